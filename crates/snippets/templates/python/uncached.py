
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP or not flags & RWF_DONTCACHE:
                raise
            flags &= ~RWF_DONTCACHE  # this filesystem or kernel cannot: the page cache keeps it
