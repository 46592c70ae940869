

    /** Page-aligned memory. */
    private static ByteBuffer pages(int size) {
        return ByteBuffer.allocateDirect((size + 4095) / 4096 * 4096 + 4096).alignedSlice(4096).limit(size);
    }
