

// A file of the set: its name in the directory, and its content.
struct file_data {
    const char *name;
    const char *data;
    size_t size;
};
