//! A program around a printed page store. With `0` it commits pages, and says so of each commit. With another number, it
//! opens the store, and fails unless the file has so many promises: the first one is made before any commit.

use anyhow::Result;

use crate::printed::Printed;

/// The bytes of a page: several sectors of the recorded disk, which a power loss can tear apart.
const PAGE_BYTES: usize = 16 << 10;
const PAGES: usize = 24;

/// What is checked of the pages of a commit that was not promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpromised {
    /// Nothing.
    Torn,
    /// Each page is old or new.
    Whole,
}

/// The program's source.
pub(crate) fn source(printed: &Printed, unpromised: Unpromised) -> Result<String> {
    let may_be_torn = match unpromised {
        Unpromised::Torn => "1",
        Unpromised::Whole => "0",
    };
    Ok(printed.source()? + &C.replace("MAY_BE_TORN", may_be_torn))
}

/// The file before the first commit, as `fill` of the program makes it.
pub(crate) fn old_file() -> Vec<u8> {
    (0..PAGES * PAGE_BYTES)
        .map(|at| {
            let (page, into_page) = (at / PAGE_BYTES, at % PAGE_BYTES);
            u8::try_from((page * 31 + into_page * 7 + into_page / 512) % 256).unwrap_or(0)
        })
        .collect()
}

const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES = 24, COMMITS = 6, EACH = 4 };

static unsigned page_of(unsigned commit, unsigned i)
{
    return (commit * 5 + i * 7) % PAGES;
}

static int is_in(unsigned commit, unsigned page)
{
    for (unsigned i = 0; i < EACH; i++)
        if (page_of(commit, i) == page)
            return 1;
    return 0;
}

// Generation 0 is the old file.
static void fill(unsigned char *bytes, unsigned page, unsigned generation)
{
    for (unsigned i = 0; i < PAGE; i++)
        bytes[i] = (unsigned char)(page * 31 + generation * 101 + i * 7 + i / 512);
}

static int has(const unsigned char *found, unsigned page, unsigned generation)
{
    static unsigned char wanted[PAGE];
    fill(wanted, page, generation);
    return memcmp(found, wanted, PAGE) == 0;
}

static int check(const char *path, unsigned commits)
{
    static unsigned char found[PAGE];
    FILE *file = fopen(path, "rb");
    for (unsigned page = 0; page < PAGES; page++) {
        if (file == NULL || fread(found, 1, PAGE, file) != PAGE) {
            fprintf(stderr, "page %u cannot be read", page);
            return 1;
        }
        unsigned generation = 0;
        for (unsigned commit = 0; commit < commits; commit++)
            if (is_in(commit, page))
                generation = commit + 1;
        const int is_unpromised = commits < COMMITS && is_in(commits, page);
        if (has(found, page, generation) || (is_unpromised && (MAY_BE_TORN || has(found, page, commits + 1))))
            continue;
        fprintf(stderr, "page %u is %s after %u commits", page, is_unpromised ? "torn" : "not the last one", commits);
        return 1;
    }
    fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    static unsigned char bytes[EACH][PAGE];
    struct page_store store;
    if (argc != 3)
        return 2;
    if (store_open(&store, argv[1]) != 0) {
        fprintf(stderr, "store_open: %s", strerror(errno));
        return 1;
    }
    const int promises = atoi(argv[2]);
    if (promises > 0)
        return store_close(&store) != 0 || check(argv[1], (unsigned)promises - 1);
    printf("durable\n");
    fflush(stdout);
    for (unsigned commit = 0; commit < COMMITS; commit++) {
        struct page pages[EACH];
        for (unsigned i = 0; i < EACH; i++) {
            fill(bytes[i], page_of(commit, i), commit + 1);
            pages[i] = (struct page){page_of(commit, i), bytes[i]};
        }
        if (store_commit(&store, pages, EACH) != 0) {
            fprintf(stderr, "store_commit: %s", strerror(errno));
            return 1;
        }
        printf("durable\n");
        fflush(stdout);
    }
    return store_close(&store) != 0;
}
"#;
