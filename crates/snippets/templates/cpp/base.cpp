{%- let (reports, compiler, file) = (case.throws_cpp(), "c++ -std=c++17", "FILE.cpp") -%}
{% include "c_family/header.c" %}

INCLUDES
{% include "c_family/streaming_header.h" %}
{%- if case.options.is_stream %}

// Puts the next bytes of the data into `buffer`: returns 1 to `size`, or 0 at the data's end. Throws on an error.
using Producer = std::function<std::size_t(char *buffer, std::size_t size)>;
{%- endif %}

namespace {
{% block declarations %}{% endblock %}

[[noreturn]] void fail(const char *call, int error = errno)
{
    throw std::system_error{error, std::generic_category(), call};
}

class Descriptor {
public:
    Descriptor(const char *path, int flags{% if case.chooses_mode() %}, mode_t mode = 0666{% endif %})
    {
        do
            fd_ = ::open(path, flags | O_CLOEXEC, {% if case.chooses_mode() %}mode{% else %}0666{% endif %});
        while (fd_ < 0 && errno == EINTR);
{%- if case.is_direct() %}
        // A filesystem without direct I/O refuses, but has made the file.
        if (fd_ < 0 && errno == EINVAL && (flags & O_DIRECT))
            fd_ = ::open(path, (flags & ~(O_DIRECT | O_EXCL)) | O_CLOEXEC, {% if case.chooses_mode() %}mode{% else %}0666{% endif %});
{%- endif %}
{%- if case.copies() %}
        if (fd_ < 0) {
            const int error = errno;
            fail((std::string{"open "} + path).c_str(), error);
        }
{%- else %}
        if (fd_ < 0)
            fail("open");
{%- endif %}
    }
    ~Descriptor()
    {
        if (fd_ >= 0)
            ::close(fd_);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;

    int get() const { return fd_; }

    // Filesystems such as NFS report some errors only now.
    void close()
    {
        if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR)
            fail("close");
    }

private:
    int fd_ = -1;
};
{%- if case.creates_name() %}

// The name of a new file, which is removed again unless it is kept.
class NewName {
public:
    explicit NewName(const char *name) : name_{name} {}
    ~NewName()
    {
        if (name_ != nullptr)
            ::unlink(name_);
    }
    NewName(const NewName &) = delete;
    NewName &operator=(const NewName &) = delete;

    void keep() { name_ = nullptr; }

private:
    const char *name_;
};
{%- endif %}
{%- include "c_family/keep_mode.c" %}
{%- include "c_family/omit_checksums.c" %}
{%- include "c_family/has_failed.c" %}
{%- include "c_family/end_direct.c" %}
{%- include "c_family/source.c" %}
{%- if case.loops_throwing_cpp() %}

// The bytes that a call has written: 0 after a signal.
std::size_t written_by(const char *call, ssize_t result)
{
    if (has_failed(result))
        fail(call);
    return result < 0 ? 0 : static_cast<std::size_t>(result);
}
{%- endif %}
{%- if case.looks_at_status_cpp() %}

struct stat status_of(const Descriptor &file)
{
    struct stat status;
    if (::fstat(file.get(), &status) != 0)
        fail("fstat");
    return status;
}
{%- endif %}
{%- if case.needs_regular_cpp() %}

// Only regular files have a length.
struct stat status_of_regular(const Descriptor &file)
{
    const struct stat status = status_of(file);
    if (!S_ISREG(status.st_mode))
        fail("the source is no regular file", EINVAL);
    return status;
}
{%- endif %}
{%- if case.has_memory_cpp() %}

struct Free {
    void operator()(char *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<char[], Free>;

Memory allocate(std::size_t alignment, std::size_t size)
{
    const std::size_t units = size / alignment + 1;
    const auto memory = static_cast<char *>(std::aligned_alloc(alignment, units * alignment));
    if (memory == nullptr)
        throw std::bad_alloc{};
{%- if case.makes_huge_pages() %}
    ::madvise(memory, units * alignment, MADV_HUGEPAGE); // the kernel may have none
{%- endif %}
    return Memory{memory};
}
{%- endif %}
{%- include "c_family/reserve.c" %}
{%- include "c_family/ahead.c" %}
{%- include "c_family/fill_with_zeros.c" %}
{%- if case.threads() > 1 %}
{%- include "cpp/parts.cpp" %}
{%- endif %}
{%- block helpers %}{% endblock %}
{%- if case.creates_name() && case.is_durable() %}

// A sync of the directory makes the file's name durable.
void sync_directory(const char *path)
{
    const auto parent = std::filesystem::path{path}.parent_path();
    const Descriptor directory{parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY};
    if (::fsync(directory.get()) != 0) {
        const int error = errno;
        const auto why = error == EINVAL || error == EBADF ? ": the directory cannot be synced here" : "";
        fail(("fsync " + (parent.empty() ? "." : parent.string()) + why).c_str(), error);
    }
}
{%- endif %}

} // namespace

{% if case.copies() -%}
void copy_file(const char *source, const char *path)
{%- else if case.options.is_stream -%}
{%- if case.expects() -%}
// Space for `expected` bytes is prepared. The file ends with the data.
{% endif -%}
void write_stream(const char *path, const Producer &next{% if case.expects() %}, std::size_t expected{% endif %})
{%- else -%}
void write_file(const char *path, const void *data, std::size_t size)
{%- endif %}
{
{%- if case.copies() %}
    const Descriptor input{source, O_RDONLY{% if case.is_direct_on_both_sides() %} | O_DIRECT{% endif %}};
    const struct stat status = status_of_regular(input);
{%- if case.meets_source() %}
    if (is_source(path, &status))
        fail("the source is the same file", EINVAL);
{%- endif %}
{%- if case.checks_end() %}
    const auto size = static_cast<std::size_t>(status.st_size);
{%- endif %}
{%- endif %}
{%- if case.options.is_atomic %}
    // Under another name until it is complete.
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    const auto other = std::string{path} + '.' + std::to_string(::getpid()) + '.' + std::to_string(now) + ".tmp";
    struct stat old;
    const bool replaces = ::stat(path, &old) == 0;
    if (replaces && !S_ISREG(old.st_mode))
        fail("the target is not a regular file", EINVAL);
{%- endif %}
{%- if case.chooses_mode() %}
    const mode_t mode = {{ case.new_mode_c() }};
{%- endif %}
    Descriptor file{ {{- case.path_cpp() }}, {{ case.access_flags().join(" | ") }}{{ case.open_flags_c() }}{% if case.chooses_mode() %}, mode{% endif %}};
{%- if case.creates_name() %}
    NewName name{ {{- case.path_cpp() }}};
{%- endif %}
{%- if case.omits_checksums() %}
    omit_checksums(file.get());
{%- endif %}
{%- if case.options.is_atomic %}
    if (replaces && keep_mode(file.get(), &old) != 0)
        fail("fchmod");
{%- endif %}
{%- if case.reserves() %}
    if (reserve(file.get(), {% if case.options.is_stream %}expected{% else %}size{% endif %}) != 0)
        fail("{% if case.sets_length() %}ftruncate{% else if case.choices().prepare == Prepare::PosixFallocate %}posix_fallocate{% else %}fallocate{% endif %}");
{%- endif %}
{%- if case.fills_with_zeros() %}
    if (fill_with_zeros(file.get(), {% if case.options.is_stream %}expected{% else %}size{% endif %}) != 0)
        fail("pwrite or fsync");
{%- endif %}
{%- block fill %}{% endblock %}
{%- if case.copies() && case.overwrites() && !case.maps_target() && !case.is(Method::Ficlone) %}
    // The file may have been longer.
    if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0)
        fail("ftruncate");
{%- endif %}
{%- if case.syncs_at_end() && !case.maps_target() %}
    // After an error, the data may be lost although a second call succeeds: write it again.
    if (::{{ case.sync_name() }}(file.get()) != 0)
        fail("{{ case.sync_name() }}");
{%- endif %}
{%- if case.checks_end() %}
    if (ends_at(input.get(), size) != 0)
        fail("the source has another length now");
{%- endif %}
{%- if case.reopens_copy() %}
    if ({% if case.options.is_atomic %}!replaces && {% endif %}narrow_mode(file.get(), status.st_mode) != 0)
        fail("fchmod");
{%- endif %}
    file.close();
{%- if case.options.is_atomic %}
    if (::rename(other.c_str(), path) != 0)
        fail("rename");
    name.keep();
{%- if case.is_durable() %}
    sync_directory(path);
{%- endif %}
{%- else if case.creates_name() %}
{%- if case.is_durable() %}
    sync_directory(path);
{%- endif %}
    name.keep();
{%- endif %}
}
{%- if case.options.is_program %}
{%- include "cpp/main.cpp" %}
{%- endif %}
