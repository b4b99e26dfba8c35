//! One Java process for several phones, one after another: a start takes seconds, and a restart milliseconds.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use super::process::Process;
use super::{FrameworkConfig, FrameworkSurface, Kind, Link, nothing};

pub type Idle = Arc<Mutex<Option<Process>>>;

/// Keeps the process of a phone that is gone for the next phone with the same app.
#[derive(Clone)]
pub struct FrameworkPool {
    framework: FrameworkConfig,
    idle: Idle,
}

impl FrameworkPool {
    pub fn new(framework: FrameworkConfig) -> FrameworkPool {
        FrameworkPool { framework, idle: Idle::default() }
    }

    /// Returns the surface of a phone that was just switched on, with no app running. Another process is started only
    /// while there is none that is idle.
    pub(crate) fn surface(&self, size: (u32, u32), density: u32) -> Result<FrameworkSurface, String> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let process = match kept {
            Some(process) => process,
            None => Process::start(&self.framework, size, density)?.0,
        };
        let idle = Some(Arc::clone(&self.idle));
        let link = Link { process: Some(process), idle, unread: Vec::new(), trouble: None };
        let mut surface = FrameworkSurface::around(link, &self.framework, size, density)?;
        let restarted = surface.act(Kind::Restart, |request| request, nothing);
        restarted.ok_or("the framework cannot be started again")?;
        surface.configure();
        surface.boot = Instant::now();
        Ok(surface)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let (Some(idle), Some(process)) = (&self.idle, self.process.take()) {
            *idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(process);
        }
    }
}
