{%- if case.options.is_atomic %}

// Copies the mode of the replaced file, and its owner and group if permitted.
static int keep_mode(int fd, const struct stat *old)
{
    if (!S_ISREG(old->st_mode)) { // a device or a pipe would become a file
        errno = EINVAL;
        return -1;
    }
    const int has_group = fchown(fd, (uid_t)-1, old->st_gid) == 0;
    if (has_group && fchown(fd, old->st_uid, (gid_t)-1) != 0)
        errno = 0; // only root may
    return fchmod(fd, old->st_mode & 0777);
}
{%- endif %}
