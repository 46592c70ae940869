//! Checks of a set of files after the clock, directory by directory.

use std::os::fd::{AsFd, BorrowedFd};

use writebench_model::protocol::SampleRequest;
use writebench_model::{Extent, ReadBack};

use crate::call::Result;
use crate::file::Target;
use crate::file_tree::{self, SetDirectory, SetFile};
use crate::pattern;
use crate::read_back::{least_certain, read_back};
use crate::region::Region;
use crate::verify::{WrittenFiles, wrong};

/// A part of a large set is one file in so many.
const PART: u64 = 16;

/// Checks the names, the number of files, their sizes, and maybe their content.
pub(crate) fn verify_set(
    set: BorrowedFd<'_>,
    request: &SampleRequest,
    regions: &[Region<'_>],
    is_of_another_rank: bool,
) -> Result<Option<ReadBack>> {
    let check = SetCheck {
        set,
        request,
        is_of_another_rank,
        is_sampled: request.read_back == Some(Extent::Part)
            && u64::from(request.case.file_count()) >= 2 * PART,
    };
    let mut parts = Vec::new();
    for directory in regions.iter().flat_map(file_tree::directories) {
        let part = check
            .directory(&directory)
            .map_err(|error| error.in_directory(directory.name.as_deref()))?;
        parts.extend(part);
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let origins: Vec<_> = parts.iter().map(|part| part.from).collect();
    let is_part = check.is_sampled || parts.iter().any(|part| part.extent == Extent::Part);
    Ok(Some(ReadBack {
        extent: if is_part { Extent::Part } else { Extent::Whole },
        bytes: parts.iter().map(|part| part.bytes).sum(),
        from: least_certain(&origins),
    }))
}

struct SetCheck<'c> {
    set: BorrowedFd<'c>,
    request: &'c SampleRequest,
    is_of_another_rank: bool,
    /// Whether some files are compared as a whole, instead of a part of each.
    is_sampled: bool,
}

impl SetCheck<'_> {
    fn directory(&self, directory: &SetDirectory<'_>) -> Result<Option<ReadBack>> {
        let opened = directory.open(self.set)?;
        self.check_number(&opened, directory)?;
        let files: Vec<&SetFile<'_>> = directory.files.iter().collect();
        let all = CheckedFiles::new(&files);
        let written = self.written(&all, opened.as_fd());
        written.check_sizes()?;
        written.check_zeros()?;
        let extent = match self.request.read_back {
            None => return Ok(None),
            Some(_) if self.is_sampled => Extent::Whole,
            Some(extent) => extent,
        };
        let compared = CheckedFiles::new(&self.compared(&files));
        let written = self.written(&compared, opened.as_fd());
        read_back(&written, self.request, extent).map(Some)
    }

    /// The set's own directory has the files of all threads and ranks.
    fn check_number(&self, opened: impl AsFd, directory: &SetDirectory<'_>) -> Result<()> {
        let expected = if directory.name.is_none() {
            u64::from(self.request.case.file_count())
        } else {
            directory.files.len() as u64
        };
        let found = file_tree::entries(opened)?;
        if found == expected {
            return Ok(());
        }
        Err(wrong(format!(
            "the directory has {found} files and should have {expected}"
        )))
    }

    /// The files whose content is compared: all, or the first, the last and some between them.
    fn compared<'f, 'a>(&self, files: &[&'f SetFile<'a>]) -> Vec<&'f SetFile<'a>> {
        if !self.is_sampled {
            return files.to_vec();
        }
        let seed = pattern::sample_seed(self.request);
        let mut compared = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let is_end = index == 0 || index + 1 == files.len();
            if is_end || pattern::word(seed, index as u64).is_multiple_of(PART) {
                compared.push(*file);
            }
        }
        compared
    }

    fn written<'f, 'a>(
        &'f self,
        files: &'f CheckedFiles<'a>,
        directory: BorrowedFd<'f>,
    ) -> WrittenFiles<'f, 'a> {
        WrittenFiles {
            target: Target::Directory(directory),
            names: &files.names,
            case: &self.request.case,
            regions: &files.regions,
            handed_over_bytes: files
                .regions
                .iter()
                .map(|region| region.file_length)
                .collect(),
            is_of_another_rank: self.is_of_another_rank,
        }
    }
}

/// The names and regions of some files, in the form of a sample's own files.
struct CheckedFiles<'a> {
    names: Vec<String>,
    regions: Vec<Region<'a>>,
}

impl<'a> CheckedFiles<'a> {
    fn new(files: &[&SetFile<'a>]) -> Self {
        Self {
            names: files.iter().map(|file| file.name()).collect(),
            regions: files
                .iter()
                .enumerate()
                .map(|(index, file)| file.region.numbered(index))
                .collect(),
        }
    }
}
