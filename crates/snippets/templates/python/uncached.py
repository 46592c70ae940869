
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP or not flags & RWF_DONTCACHE:
                raise
            # This filesystem or kernel cannot: the page cache keeps it.
            flags &= ~RWF_DONTCACHE
