//! Ends the process when something asks for far more memory at once than any input deserves: a length that lies is believed
//! long before its bytes are there, and the system lends such memory without a word.

use std::alloc::{GlobalAlloc, Layout, System};

/// The longest answer that any protocol may have is 96 MiB; a buffer that grows doubles.
const ALLOCATION_BYTES_MAX: usize = 256 * 1024 * 1024;

struct Bounded;

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

fn check(bytes: usize) {
    if bytes > ALLOCATION_BYTES_MAX {
        // A panic would allocate as well, and may be caught.
        std::process::abort();
    }
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's promises are those that the system's allocator wants.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        check(bytes);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, bytes) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
