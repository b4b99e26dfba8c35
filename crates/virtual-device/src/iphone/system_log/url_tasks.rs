//! Requests of apps as CFNetwork logs them: by a task, and without their addresses, which the system keeps private.

use std::collections::BTreeMap;

use crate::logcat::Entry;

/// The tag under which apps log their requests.
const TAG: &str = "OkHttp";
const SENT: &str = "--> ";
const ANSWERED: &str = "<-- ";

/// For each entry about a request, by its sequence number, the number of the task. An answer belongs to the last request
/// for its address.
pub fn numbers<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeMap<u64, u32> {
    let (mut numbers, mut last, mut count) = (BTreeMap::new(), BTreeMap::new(), 0);
    for entry in entries.filter(|entry| entry.tag == TAG) {
        let Some(address) = entry.message.split(' ').nth(2) else { continue };
        if entry.message.starts_with(SENT) {
            count += 1;
            last.insert(address, count);
        }
        if let Some(number) = last.get(address) {
            numbers.insert(entry.sequence, *number);
        }
    }
    numbers
}

/// The lines of CFNetwork for one line of an app's library.
pub fn lines(message: &str, pid: u32, number: u32) -> Vec<String> {
    let task = format!("Task <{pid:08X}-0000-4000-8000-{number:012X}>.<{number}>");
    if message.starts_with(SENT) {
        let nobody = "activity(00000000-0000-0000-0000-000000000000)";
        return vec![
            format!("{task} resuming, timeouts(60.0, 604800.0) qos(0x19) voucher((null)) {nobody}"),
            format!("{task} sent request, body S 64"),
        ];
    }
    let Some(answer) = message.strip_prefix(ANSWERED) else { return Vec::new() };
    let status = answer.split(' ').next().unwrap_or_default();
    let ms = answer.rsplit_once('(').map_or("0", |(_, time)| time.trim_end_matches("ms)"));
    let summary = format!(
        "transaction_duration_ms={ms}, response_status={status}, connection=1, protocol=\"h2\", \
         domain_lookup_duration_ms=1, connect_duration_ms=75, secure_connection_duration_ms=47, private_relay=false, \
         request_start_ms=82, request_duration_ms=0, response_start_ms={ms}, response_duration_ms=0, \
         request_bytes=310, response_bytes=124, cache_hit=false"
    );
    vec![
        format!("{task} received response, status {status} content K"),
        format!("{task} done using Connection 1"),
        format!("{task} summary for task success {{{summary}}}"),
        format!("{task} finished successfully"),
    ]
}
