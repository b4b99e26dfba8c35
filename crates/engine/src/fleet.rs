//! All devices of all sources, and one session for each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use mdm_core::action::event::Event;
use mdm_core::evidence::crash_book::Known;
use mdm_core::failure::Failure;
use mdm_core::port::{Availability, DeviceSource, Listed, SourceHealth};
use mdm_core::screen::snapshot::Platform;

use crate::choose::{self, Binding, WantedDevice};
use crate::clock::Clock;
use crate::events::{Bus, Stamped};
use crate::metrics::Counts;
use crate::progress::Progress;
use crate::session::Session;

/// A list is believed for so long while the devices on it stay connected.
const LIST_AGE_MAX_MS: u64 = 2000;
/// One source, before the others are answered without it.
const SOURCE_TIMEOUT: Duration = Duration::from_secs(5);

/// Tells by its id whether a device may be used at all.
pub type Admits = Arc<dyn Fn(&str) -> bool + Send + Sync>;

pub struct Fleet {
    sources: Vec<Arc<dyn DeviceSource>>,
    admits: Admits,
    clock: Clock,
    bus: Arc<Bus>,
    sessions: Sessions,
    /// The last list of all sources, and when it was made.
    last_list: Mutex<Option<(u64, Vec<Listed>)>>,
}

type SessionMap = BTreeMap<(Platform, String), Arc<Session>>;

/// The sessions of all devices, also for those who need one outside of calls.
#[derive(Clone, Default)]
pub struct Sessions {
    all: Arc<Mutex<SessionMap>>,
}

impl Sessions {
    /// The session of a device, which is another one after the device was plugged in again.
    pub fn of(&self, platform: Platform, id: &str) -> Option<Arc<Session>> {
        lock(&self.all).get(&(platform, id.to_owned())).cloned()
    }
}

/// What the sources listed. One that failed does not fail the others.
#[derive(Default)]
pub struct DeviceList {
    pub devices: Vec<Listed>,
    pub failures: Vec<Failure>,
}

/// A crash that happened between two calls, or beside one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntoldCrash {
    pub device: String,
    pub known: Known,
    /// The action that was sent before it, and how many milliseconds before.
    pub after: Option<(String, u64)>,
}

impl Fleet {
    pub fn new(sources: Vec<Arc<dyn DeviceSource>>) -> Fleet {
        Fleet {
            sources,
            admits: Arc::new(|_| true),
            clock: Clock::start(),
            bus: Arc::default(),
            sessions: Sessions::default(),
            last_list: Mutex::default(),
        }
    }

    /// Neither lists, chooses nor finds a device that is not admitted.
    #[must_use]
    pub fn admitting(self, admits: Admits) -> Fleet {
        Fleet { admits, ..self }
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub fn bus(&self) -> &Arc<Bus> {
        &self.bus
    }

    /// Lists every device, usable or not.
    pub async fn list(&self, platform: Option<Platform>, progress: &Progress) -> DeviceList {
        let mut list = DeviceList::default();
        let progress = &progress.within_next(SOURCE_TIMEOUT);
        let asked = self.sources.iter().filter(|source| platform.is_none_or(|p| p == source.platform()));
        let answers = asked.map(|source| progress.race_device("listing devices", source.list()));
        for answer in join_all(answers).await {
            match answer {
                Ok(devices) => list.devices.extend(devices),
                Err(failure) => list.failures.push(failure),
            }
        }
        list.devices.retain(|listed| (self.admits)(&listed.id));
        if platform.is_none() {
            self.remember(&list.devices);
        }
        list
    }

    /// Notes which devices came and went since the last list.
    fn remember(&self, devices: &[Listed]) {
        let now_ms = self.clock.now_ms();
        let ready = |listed: &&Listed| listed.availability == Availability::Ready;
        let before = lock(&self.last_list).replace((now_ms, devices.to_vec()));
        let before = before.map(|(_, devices)| devices).unwrap_or_default();
        let is_in = |listed: &Listed, other: &[Listed]| other.iter().any(|o| ready(&o) && o.id == listed.id);
        let tell = |listed: &Listed, event: Event| {
            if self.bus.has_listeners() {
                let device = listed.id.as_str().into();
                self.bus.publish(Stamped { at_ms: now_ms, call: 0, device, event });
            }
        };
        for listed in devices.iter().filter(ready).filter(|listed| !is_in(listed, &before)) {
            tell(listed, Event::DeviceCame);
        }
        for listed in before.iter().filter(ready).filter(|listed| !is_in(listed, devices)) {
            tell(listed, Event::DeviceWent);
        }
    }

    /// The session of the device that the caller means, to which it is bound from then on. A named device is not kept waiting by any other.
    pub async fn choose(
        &self,
        wanted: &WantedDevice,
        binding: &Binding,
        progress: &Progress,
    ) -> Result<Arc<Session>, Failure> {
        let supported = |p: Platform| self.sources.iter().any(|s| s.platform() == p);
        if let Some(platform) = wanted.platform.filter(|p| !supported(*p)) {
            return Err(choose::no_driver(platform));
        }
        let session = match &wanted.id {
            Some(id) => self.find(id, wanted.platform, progress).await?,
            None => self.choose_unnamed(wanted, binding, progress).await?,
        };
        binding.set(session.platform(), session.id());
        session.watch_for_crashes();
        Ok(session)
    }

    /// The device of the last call, or the only one there is.
    async fn choose_unnamed(
        &self,
        wanted: &WantedDevice,
        binding: &Binding,
        progress: &Progress,
    ) -> Result<Arc<Session>, Failure> {
        let fits = |known: Platform| wanted.platform.is_none_or(|platform| platform == known);
        let bound = binding.get().filter(|(platform, _)| fits(*platform));
        let known = bound.as_ref().and_then(|key| lock(&self.sessions.all).get(key).cloned());
        if let Some(session) = known.filter(|session| session.is_connected()) {
            return Ok(session);
        }
        if bound.is_none()
            && let Some(session) = self.only_connected(wanted)
        {
            return Ok(session);
        }
        let list = self.list(None, progress).await;
        let mut devices = list.devices;
        devices.retain(|listed| fits(listed.platform));
        if let Some((platform, id)) = &bound {
            if let Some(listed) =
                devices.iter().find(|device| device.platform == *platform && device.id == *id)
            {
                return choose::usable(listed.clone()).map(|listed| self.session(&listed));
            }
            if devices.iter().any(|device| device.availability == Availability::Ready) {
                return Err(choose::bound_is_gone(id, &devices));
            }
        }
        let chosen = choose::choose(devices, wanted, progress).await;
        let chosen = chosen.map_err(|failure| choose::with_source_failures(failure, &list.failures))?;
        Ok(self.session(&chosen))
    }

    /// The session of a named device. Unlike a choice, it does not bind later calls to it.
    pub async fn find(
        &self,
        id: &str,
        platform: Option<Platform>,
        progress: &Progress,
    ) -> Result<Arc<Session>, Failure> {
        let fits = |known: &Platform| platform.is_none_or(|platform| platform == *known);
        let known = lock(&self.sessions.all)
            .iter()
            .find(|((platform, known), session)| known == id && fits(platform) && session.is_connected())
            .map(|(_, session)| Arc::clone(session));
        if let Some(session) = known {
            return Ok(session);
        }
        for source in self.sources.iter().filter(|source| fits(&source.platform())) {
            let progress = progress.within_next(SOURCE_TIMEOUT);
            let found = progress.race_device("looking for the device", source.find(id)).await;
            if let Ok(Some(listed)) = found
                && (self.admits)(&listed.id)
            {
                return choose::usable(listed).map(|listed| self.session(&listed));
            }
        }
        let list = self.list(platform, progress).await;
        Err(choose::not_found(id, &list.devices))
    }

    /// The one device of the last list that can be used, while that list is young and the device stays connected.
    fn only_connected(&self, wanted: &WantedDevice) -> Option<Arc<Session>> {
        let last = lock(&self.last_list);
        let (at_ms, devices) = last.as_ref()?;
        if self.clock.now_ms().saturating_sub(*at_ms) > LIST_AGE_MAX_MS {
            return None;
        }
        let fits = |listed: &&Listed| {
            wanted.platform.is_none_or(|platform| platform == listed.platform)
                && listed.availability == Availability::Ready
        };
        let mut usable = devices.iter().filter(fits);
        let (only, None) = (usable.next()?, usable.next()) else { return None };
        let session = self.session(only);
        session.is_connected().then_some(session)
    }

    /// Asks every source how it is, each with a deadline of its own.
    pub async fn health(&self, progress: &Progress) -> Vec<(Platform, Result<SourceHealth, Failure>)> {
        let progress = &progress.within_next(SOURCE_TIMEOUT);
        let asked = self.sources.iter().map(|source| async move {
            let health = progress.race_device("checking the connection", source.health()).await;
            (source.platform(), health)
        });
        join_all(asked).await
    }

    /// What the waits on each device came to so far (SY-18).
    pub fn wait_counts(&self) -> Vec<(String, Counts)> {
        let sessions = lock(&self.sessions.all);
        sessions.values().map(|session| (session.id().to_owned(), session.wait_counts())).collect()
    }

    /// Takes the crashes on the device of this caller of which no answer has told, of apps that callers work with.
    pub fn take_untold_crashes(&self, binding: &Binding) -> Vec<UntoldCrash> {
        let bound = binding.get();
        let sessions = bound.and_then(|key| lock(&self.sessions.all).get(&key).cloned());
        let untold = |session: &Arc<Session>| {
            let taken = session.crash_book().take_untold(|app| session.works_with(app));
            let of = |known: Known| {
                let memory = session.memory();
                let window = memory.windows.at(known.noted_ms);
                let after = window.map(|window| (window.action_id.clone(), known.noted_ms - window.sent_ms));
                UntoldCrash { device: session.id().to_owned(), known, after }
            };
            taken.into_iter().map(of).collect::<Vec<_>>()
        };
        sessions.iter().flat_map(untold).collect()
    }

    /// Ends the logs that are followed on any device under names that begin like this.
    pub fn stop_logs(&self, prefix: &str) {
        lock(&self.sessions.all).values().for_each(|session| session.log_streams().stop_all(prefix));
    }

    /// How many devices were ever called.
    pub fn used(&self) -> usize {
        lock(&self.sessions.all).len()
    }

    pub fn session(&self, listed: &Listed) -> Arc<Session> {
        let mut sessions = lock(&self.sessions.all);
        let key = (listed.platform, listed.id.clone());
        let before = sessions.get(&key);
        if let Some(session) = before.filter(|session| session.drives(&listed.device)) {
            return Arc::clone(session);
        }
        let device = Arc::clone(&listed.device);
        let session = Arc::new(match before {
            Some(before) => Session::succeeding(before, device),
            None => Session::new(listed.platform, &listed.id, device, self.clock),
        });
        sessions.insert(key, Arc::clone(&session));
        session
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
