{%- if case.atomic() %}

// Gives the new file the mode of the one that it replaces, and its group and owner if it may.
static int keep_mode(int fd, const struct stat *old)
{
    const int has_group = fchown(fd, (uid_t)-1, old->st_gid) == 0;
    if (has_group && fchown(fd, old->st_uid, (gid_t)-1) != 0)
        errno = 0; // only root may
    return fchmod(fd, old->st_mode & 0777);
}
{%- endif %}
