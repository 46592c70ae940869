

    /** Reads until a buffer is full. */
    private static void readAll(FileChannel input, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining())
            if (input.read(buffer) < 0)
                throw new EOFException("the source has become shorter");
    }
