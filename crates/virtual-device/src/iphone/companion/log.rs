//! The simulator's log, as `log stream` prints it.

use bytes::Bytes;
use mdm_wire::idb::{LogRequest, LogResponse, LogSource};
use tonic::Status;

use super::calls::{Answer, Answers, answers};
use crate::iphone::IPhone;
use crate::iphone::system_log::LogMessage;

pub async fn follow(iphone: &IPhone, request: LogRequest) -> Answer<Answers<LogResponse>> {
    if request.source == i32::from(LogSource::Companion) {
        return Err(Status::failed_precondition("This companion keeps no log of its own"));
    }
    iphone.simulator(|simulator| simulator.follow_log(&request.arguments));
    let options = Options::parse(&request.arguments);
    let (sender, receiver) = answers();
    let iphone = iphone.clone();
    let mut changed = iphone.phone().log_watch();
    let (_, mut next) = iphone.log_since(0);
    tokio::spawn(async move {
        let mut out = options.heading().to_owned();
        loop {
            let (messages, after) = iphone.log_since(next);
            next = after;
            for message in messages.iter().filter(|message| options.wants(message)) {
                message.print(&options.style, &mut out);
            }
            if !out.is_empty() {
                let output = Bytes::from(std::mem::take(&mut out));
                if sender.send(Ok(LogResponse { output })).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                changed = changed.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
        }
    });
    Ok(receiver)
}

/// The arguments of `log stream` that change what is printed.
struct Options {
    style: String,
    debug: bool,
    info: bool,
    process: Option<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Options {
        let mut options = Options { style: "default".to_owned(), debug: false, info: false, process: None };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let mut value = || inline.clone().or_else(|| words.next().cloned());
            match name {
                "--style" => options.style = value().unwrap_or_default(),
                "--level" => {
                    let level = value();
                    options.debug |= level.as_deref() == Some("debug");
                    options.info |= level.as_deref() == Some("info");
                }
                "--process" => options.process = value(),
                "--debug" => options.debug = true,
                "--info" => options.info = true,
                _ => {}
            }
        }
        options
    }

    fn heading(&self) -> &'static str {
        match self.style.as_str() {
            "ndjson" | "json" => "",
            "compact" => "Timestamp               Ty Process[PID:TID]\n",
            "syslog" => "Timestamp                       (process)[PID]    \n",
            _ => "Timestamp                       Thread     Type        Activity             PID    TTL  \n",
        }
    }

    fn wants(&self, message: &LogMessage) -> bool {
        let level = match message.kind {
            "Debug" => self.debug,
            "Info" => self.info || self.debug,
            _ => true,
        };
        let named = |wanted: &String| *wanted == message.process || *wanted == message.pid.to_string();
        level && self.process.as_ref().is_none_or(named)
    }
}
