//! How much of the machine other programs took: what is measured in milliseconds says nothing of the server where they took
//! much.

/// Ticks of all processors so far, as Linux counts them.
#[derive(Debug, Clone, Copy)]
pub struct Ticks {
    all: u64,
    busy: u64,
    /// Of the server and of this process.
    own: u64,
}

impl Ticks {
    /// Nothing where the system does not tell.
    pub fn now(server: u32) -> Option<Ticks> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let own = of_process("self")? + of_process(&server.to_string())?;
        let (all, busy) = of_machine(&stat)?;
        Some(Ticks { all, busy, own })
    }

    /// The share that neither the server nor this process took since an earlier moment, in percent.
    pub fn others_percent(&self, earlier: &Ticks) -> f64 {
        let since = |now: u64, then: u64| now.saturating_sub(then) as f64;
        let others = since(self.busy, earlier.busy) - since(self.own, earlier.own);
        others.max(0.0) * 100.0 / since(self.all, earlier.all).max(1.0)
    }
}

/// All ticks, and those in which something ran, here or in another machine on the same processors.
fn of_machine(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).filter_map(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, waiting, interrupts, soft, stolen] = ticks[..] else { return None };
    let busy = user + nice + system + interrupts + soft + stolen;
    Some((busy + idle + waiting, busy))
}

fn of_process(id: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before it may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11);
    Some(words.next()?.parse::<u64>().ok()? + words.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_took_is_what_is_left_of_what_was_busy() {
        assert_eq!(of_machine("cpu  10 0 20 60 10 0 0 5 0 0\ncpu0 1\n"), Some((105, 35)));
        assert_eq!(of_machine("something else"), None);
        let (earlier, now) = (Ticks { all: 100, busy: 50, own: 10 }, Ticks { all: 300, busy: 200, own: 60 });
        assert!((now.others_percent(&earlier) - 50.0).abs() < 0.001);
    }
}
