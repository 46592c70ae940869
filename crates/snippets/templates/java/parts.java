

    /** Does its work on the bytes between two offsets. */
    private interface Part {
        void run(long from, long until) throws IOException;
    }

    /** Where thread `i` begins. Its part is whole {% if case.chunk_java().is_some() %}chunks or pages{% else %}pages{% endif %}. */
    private static long border(long size, int i) {
{%- if case.chunk_java().is_some() %}
        long granule = CHUNK <= size / THREADS ? CHUNK : {{ case.least_granule_java() }};
{%- else %}
        long granule = {{ case.least_granule_java() }};
{%- endif %}
        return Math.min(size, (size + granule - 1) / granule * i / THREADS * granule);
    }

    private static void inParts(long size, Part part) throws IOException {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        List<Callable<Void>> calls = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            long from = border(size, i), until = border(size, i + 1);
            calls.add(() -> {
                part.run(from, until);
                return null;
            });
        }
        try {
            for (Future<Void> call : pool.invokeAll(calls)) // it waits for all
                call.get();
        } catch (ExecutionException error) {
            throw error.getCause() instanceof IOException cause ? cause : new IOException(error.getCause());
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        } finally {
            pool.shutdownNow();
        }
    }
