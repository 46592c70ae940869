use std::ffi::c_void;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::{ManuallyDrop, offset_of};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle};
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::ERROR_STOPPED_ON_SYMLINK;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ALLOCATION_INFO, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_FLAG_WRITE_THROUGH, FILE_INFO_BY_HANDLE_CLASS, FILE_STANDARD_INFO, FILE_STORAGE_INFO,
    FileAllocationInfo, FileStandardInfo, FileStorageInfo, GetFileInformationByHandleEx,
    SetFileInformationByHandle,
};
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    DISK_GEOMETRY_EX, FSCTL_LOCK_VOLUME, FSCTL_UNLOCK_VOLUME, GET_LENGTH_INFORMATION,
    IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, IOCTL_DISK_GET_LENGTH_INFO, IOCTL_STORAGE_QUERY_PROPERTY,
    PropertyStandardQuery, STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR, STORAGE_DEVICE_DESCRIPTOR,
    STORAGE_PROPERTY_ID, STORAGE_PROPERTY_QUERY, StorageAccessAlignmentProperty,
    StorageDeviceProperty,
};

use super::Vectored;
use crate::{BlockDevice, DirectIo, Error, OpenOptions, WriteThrough};

pub(crate) fn borrow<F: AsHandle>(file: &F) -> BorrowedHandle<'_> {
    file.as_handle()
}

pub(crate) fn open(options: &OpenOptions, path: &Path) -> Result<File, Error> {
    let chosen = [
        (options.direct, FILE_FLAG_NO_BUFFERING),
        (
            options.write_through != WriteThrough::None,
            FILE_FLAG_WRITE_THROUGH,
        ),
        (options.no_follow, FILE_FLAG_OPEN_REPARSE_POINT),
    ];
    let flags = chosen
        .into_iter()
        .filter(|(is_chosen, _)| *is_chosen)
        .fold(0, |all, (_, flag)| all | flag);
    let mut std = std::fs::OpenOptions::new();
    std.read(options.read)
        .write(options.write)
        .create(options.create)
        .create_new(options.create_new);
    std.truncate(options.truncate).custom_flags(flags);
    if options.exclusive {
        std.share_mode(0);
    }
    let file = std.open(path).map_err(not_created)?;
    if options.no_follow {
        // Other reparse points are fine: compressed files, or files in a cloud.
        let is_symlink = file
            .metadata()
            .map_err(not_created)?
            .file_type()
            .is_symlink();
        if is_symlink {
            let number = ERROR_STOPPED_ON_SYMLINK.cast_signed();
            return Err(not_created(io::Error::from_raw_os_error(number)));
        }
    }
    Ok(file)
}

fn not_created(error: io::Error) -> Error {
    Error::call("CreateFileW", error)
}

pub(crate) const WRITE_AT: &str = "WriteFile";

pub(crate) fn write_at(file: BorrowedHandle<'_>, bytes: &[u8], offset: u64) -> io::Result<usize> {
    with_file(file, |file| file.seek_write(bytes, offset))
}

pub(crate) const READ_AT: &str = "ReadFile";

pub(crate) fn read_at(
    file: BorrowedHandle<'_>,
    bytes: &mut [u8],
    offset: u64,
) -> io::Result<usize> {
    with_file(file, |file| file.seek_read(bytes, offset))
}

fn with_file<T>(handle: BorrowedHandle<'_>, then: impl FnOnce(&File) -> T) -> T {
    // SAFETY: the handle is open while borrowed, and `ManuallyDrop` never closes it.
    let file = ManuallyDrop::new(unsafe { File::from_raw_handle(handle.as_raw_handle()) });
    then(&file)
}

pub(crate) const WRITE_VECTORED_AT: &str = "WriteFileGather";

pub(crate) fn write_vectored_at(_: BorrowedHandle<'_>, _: &[IoSlice<'_>], _: u64) -> Vectored {
    Err(Error::Unsupported {
        call: WRITE_VECTORED_AT,
        reason: ONLY_PAGES,
    })
}

pub(crate) const READ_VECTORED_AT: &str = "ReadFileScatter";

pub(crate) fn read_vectored_at(
    _: BorrowedHandle<'_>,
    _: &mut [IoSliceMut<'_>],
    _: u64,
) -> Vectored {
    Err(Error::Unsupported {
        call: READ_VECTORED_AT,
        reason: ONLY_PAGES,
    })
}

const ONLY_PAGES: &str =
    "it takes only single pages and asynchronous handles. Transfer each slice by itself";

pub(crate) fn length_bytes(file: BorrowedHandle<'_>) -> Result<Option<u64>, Error> {
    // A disk or volume refuses this kind of information.
    let information = standard_information(file)
        .ok()
        .filter(|information| !information.Directory);
    Ok(information.and_then(|information| u64::try_from(information.EndOfFile).ok()))
}

pub(crate) const SET_LENGTH: &str = "SetFileInformationByHandle(FileEndOfFileInfo)";

pub(crate) fn set_length(file: BorrowedHandle<'_>, length_bytes: u64) -> Result<(), Error> {
    with_file(file, |file| file.set_len(length_bytes))
        .map_err(|error| Error::call(SET_LENGTH, error))
}

/// Always true, because a handle does not report its flags.
pub(crate) fn may_be_direct(_: BorrowedHandle<'_>) -> bool {
    true
}

pub(crate) fn device(file: BorrowedHandle<'_>) -> Result<BlockDevice, Error> {
    const GEOMETRY: &str = "DeviceIoControl(IOCTL_DISK_GET_DRIVE_GEOMETRY_EX)";
    const LENGTH: &str = "DeviceIoControl(IOCTL_DISK_GET_LENGTH_INFO)";
    // SAFETY: the code takes nothing and fills a DISK_GEOMETRY_EX, which has integers only.
    let geometry = match unsafe {
        get::<DISK_GEOMETRY_EX>(file, IOCTL_DISK_GET_DRIVE_GEOMETRY_EX, GEOMETRY)
    } {
        // A disk or volume refuses this kind of information.
        Err(_) if standard_information(file).is_ok() => return Err(Error::NotADevice),
        geometry => geometry?,
    };
    // The geometry of a volume is its disk's.
    // SAFETY: the code takes nothing and fills a GET_LENGTH_INFORMATION, which has an integer only.
    let length = unsafe { get::<GET_LENGTH_INFORMATION>(file, IOCTL_DISK_GET_LENGTH_INFO, LENGTH) };
    // Not every driver knows the physical sectors or a serial number.
    let mut sectors = STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR::default();
    let sectors = property(file, StorageAccessAlignmentProperty, &mut sectors)
        .ok()
        .map(|_| sectors);
    let mut described = [0u8; 1024];
    let filled = property(file, StorageDeviceProperty, &mut described).ok();
    let logical = sectors.map_or(geometry.Geometry.BytesPerSector, |sectors| {
        sectors.BytesPerLogicalSector
    });
    Ok(BlockDevice {
        logical_sector_bytes: Some(logical.into()),
        physical_sector_bytes: sectors.map(|sectors| sectors.BytesPerPhysicalSector.into()),
        capacity_bytes: u64::try_from(length.map_or(geometry.DiskSize, |length| length.Length))
            .ok(),
        serial: filled.and_then(|filled| serial_in(described.get(..filled).unwrap_or(&described))),
    })
}

pub(crate) fn device_at(path: &Path) -> Result<BlockDevice, Error> {
    device(open(&OpenOptions::new().read(true), path)?.as_handle())
}

pub(crate) fn device_below(file: BorrowedHandle<'_>) -> Result<BlockDevice, Error> {
    const CALL: &str = "GetFileInformationByHandleEx(FileStorageInfo)";
    // SAFETY: FILE_STORAGE_INFO belongs to FileStorageInfo and has integers only.
    let sectors: FILE_STORAGE_INFO = unsafe { information(file, FileStorageInfo, CALL) }?;
    Ok(BlockDevice {
        logical_sector_bytes: Some(sectors.LogicalBytesPerSector.into()),
        physical_sector_bytes: Some(sectors.PhysicalBytesPerSectorForPerformance.into()),
        capacity_bytes: None,
        serial: None,
    })
}

/// "File access buffer addresses … should be physical sector-aligned", sizes and offsets multiples of the
/// volume's sector: File Buffering, Win32 documentation.
pub(crate) fn direct(file: BorrowedHandle<'_>) -> Result<DirectIo, Error> {
    let below = match device(file) {
        Err(Error::NotADevice) => device_below(file),
        device => device,
    };
    let below = match below {
        // Wine's answer to FileStorageInfo.
        Err(Error::Call { source, .. }) if source.kind() == io::ErrorKind::Unsupported => {
            return Ok(DirectIo::Unknown);
        }
        below => below?,
    };
    Ok(DirectIo::by(
        below.physical_sector_bytes,
        below.logical_sector_bytes,
    ))
}

pub(crate) fn flock(_: BorrowedHandle<'_>, _: bool) -> Result<(), Error> {
    Err(Error::Unsupported {
        call: "flock",
        reason: "Windows has no advisory locks. Open the file exclusively instead",
    })
}

pub(crate) fn lock_volume(volume: BorrowedHandle<'_>, locks: bool) -> Result<(), Error> {
    let (code, call) = if locks {
        (FSCTL_LOCK_VOLUME, "DeviceIoControl(FSCTL_LOCK_VOLUME)")
    } else {
        (FSCTL_UNLOCK_VOLUME, "DeviceIoControl(FSCTL_UNLOCK_VOLUME)")
    };
    // SAFETY: both codes take nothing and give nothing.
    unsafe { control(volume, code, call, &(), &mut ()) }.map(drop)
}

pub(crate) fn fdatasync(_: BorrowedHandle<'_>) -> Result<(), Error> {
    Err(Error::Unsupported {
        call: "fdatasync",
        reason: "Windows has only FlushFileBuffers. Use fsync",
    })
}

pub(crate) fn fsync(file: BorrowedHandle<'_>) -> Result<(), Error> {
    with_file(file, File::sync_all).map_err(|error| Error::call("FlushFileBuffers", error))
}

/// Sets each size only to a greater one, because a smaller size would cut the file.
pub(crate) fn preallocate(file: BorrowedHandle<'_>, length_bytes: u64) -> Result<(), Error> {
    const CALL: &str = "SetFileInformationByHandle(FileAllocationInfo)";
    let length = i64::try_from(length_bytes)
        .map_err(|_| Error::call(CALL, io::Error::from(io::ErrorKind::FileTooLarge)))?;
    let present = standard_information(file)?;
    if length > present.AllocationSize {
        let wanted = FILE_ALLOCATION_INFO {
            AllocationSize: length,
        };
        // SAFETY: the handle is open while borrowed, and the structure belongs to the class.
        let result = unsafe {
            SetFileInformationByHandle(
                file.as_raw_handle(),
                FileAllocationInfo,
                ptr::from_ref(&wanted).cast(),
                size_of_u32::<FILE_ALLOCATION_INFO>(),
            )
        };
        succeeded(result, CALL)?;
    }
    if length > present.EndOfFile {
        set_length(file, length_bytes)?;
    }
    Ok(())
}

/// The header of a STORAGE_DEVICE_DESCRIPTOR holds the offsets of zero-terminated strings after it.
fn serial_in(descriptor: &[u8]) -> Option<String> {
    let at = offset_of!(STORAGE_DEVICE_DESCRIPTOR, SerialNumberOffset);
    let start: [u8; 4] = descriptor.get(at..at + 4)?.try_into().ok()?;
    // Without a serial number the offset is 0, or with some drivers -1.
    let start = usize::try_from(u32::from_le_bytes(start)).ok()?;
    if start == 0 {
        return None;
    }
    let text = descriptor.get(start..)?.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// # Safety
/// The code takes nothing and fills a `T`, which is valid for all contents.
unsafe fn get<T: Default>(
    file: BorrowedHandle<'_>,
    code: u32,
    call: &'static str,
) -> Result<T, Error> {
    let mut output = T::default();
    // SAFETY: as the caller promises.
    unsafe { control(file, code, call, &(), &mut output) }?;
    Ok(output)
}

fn property<O>(
    file: BorrowedHandle<'_>,
    id: STORAGE_PROPERTY_ID,
    output: &mut O,
) -> Result<usize, Error> {
    let query = STORAGE_PROPERTY_QUERY {
        PropertyId: id,
        QueryType: PropertyStandardQuery,
        AdditionalParameters: [0],
    };
    let call = "DeviceIoControl(IOCTL_STORAGE_QUERY_PROPERTY)";
    // SAFETY: the code takes a query and fills as much of the output as there is.
    unsafe { control(file, IOCTL_STORAGE_QUERY_PROPERTY, call, &query, output) }
}

fn size_of_u32<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(0)
}

fn start_of<T>(memory: *mut T) -> *mut c_void {
    if size_of::<T>() == 0 {
        ptr::null_mut()
    } else {
        memory.cast()
    }
}

/// Returns the number of filled bytes.
///
/// # Safety
/// Input and output outlive the call, have the types that the code expects, and the output is valid for all
/// contents.
unsafe fn control<I, O>(
    file: BorrowedHandle<'_>,
    code: u32,
    call: &'static str,
    input: &I,
    output: &mut O,
) -> Result<usize, Error> {
    let mut filled = 0;
    // SAFETY: the handle is open while borrowed and is not overlapped. The caller promises that the memory,
    // whose lengths these are, fits the code.
    let result = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            code,
            start_of(ptr::from_ref(input).cast_mut()),
            size_of_u32::<I>(),
            start_of(output),
            size_of_u32::<O>(),
            &raw mut filled,
            ptr::null_mut(),
        )
    };
    succeeded(result, call).map(|()| filled as usize)
}

fn standard_information(file: BorrowedHandle<'_>) -> Result<FILE_STANDARD_INFO, Error> {
    const CALL: &str = "GetFileInformationByHandleEx(FileStandardInfo)";
    // SAFETY: FILE_STANDARD_INFO belongs to FileStandardInfo and has integers only.
    unsafe { information(file, FileStandardInfo, CALL) }
}

/// # Safety
/// The type belongs to the class, and is valid for all contents.
unsafe fn information<T: Default>(
    file: BorrowedHandle<'_>,
    class: FILE_INFO_BY_HANDLE_CLASS,
    call: &'static str,
) -> Result<T, Error> {
    let mut information = T::default();
    let start = ptr::from_mut(&mut information).cast();
    // SAFETY: the handle is open while borrowed, and the caller promises the type.
    let result = unsafe {
        GetFileInformationByHandleEx(file.as_raw_handle(), class, start, size_of_u32::<T>())
    };
    succeeded(result, call).map(|()| information)
}

fn succeeded(result: i32, call: &'static str) -> Result<(), Error> {
    if result == 0 {
        Err(Error::call(call, io::Error::last_os_error()))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(start: u32, strings: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; size_of::<STORAGE_DEVICE_DESCRIPTOR>()];
        let at = offset_of!(STORAGE_DEVICE_DESCRIPTOR, SerialNumberOffset);
        bytes[at..at + 4].copy_from_slice(&start.to_le_bytes());
        bytes.extend_from_slice(strings);
        bytes
    }

    #[test]
    fn a_serial_number_is_at_the_descriptors_offset() {
        let size = size_of_u32::<STORAGE_DEVICE_DESCRIPTOR>();
        assert_eq!(
            serial_in(&descriptor(size + 2, b"a\0S5H9\0rest")).as_deref(),
            Some("S5H9")
        );
        assert_eq!(serial_in(&descriptor(0, b"S5H9\0")), None);
        assert_eq!(serial_in(&descriptor(u32::MAX, b"S5H9\0")), None);
        assert_eq!(serial_in(b""), None);
    }
}
