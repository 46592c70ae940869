//! What a worker may still do once it has what it needs.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

/// Of root's capabilities a worker keeps two: `CAP_DAC_OVERRIDE`, as some filesystems show its own files as somebody
/// else's, and `CAP_IPC_LOCK`, without which registered buffers are limited by `ulimit -l`.
const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::IPC_LOCK);

/// Gives up the rest, and all ways to more (`PR_SET_NO_NEW_PRIVS`), for this thread and those that it starts: quotas
/// hold for root's samples, too (`CAP_SYS_RESOURCE`), and nothing can be mounted, loaded or made a device.
///
/// # Errors
/// The kernel refuses, as only a sandbox makes it. Linux only.
pub fn drop_privileges() -> rustix::io::Result<()> {
    let had = capabilities(None)?;
    let kept = KEPT & had.permitted;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    // A sandbox may forbid the call, and an ordinary user has nothing to give up.
    if sets != had {
        set_capabilities(None, sets)?;
    }
    set_no_new_privs(true)
}
