
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP or not flags & RWF_DONTCACHE:
                raise
            # Unsupported here: the page cache keeps the data.
            flags &= ~RWF_DONTCACHE
