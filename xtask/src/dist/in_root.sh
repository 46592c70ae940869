# Runs a command in another root: in_root.sh FOLDER COMMAND... The mounts end with their namespace.
exec unshare --mount sh -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
    mount -t tmpfs tmpfs "$0/tmp" && exec chroot "$0" "$@"' "$@"
