//! Tries the helper on a device and reports how it went, in lines that can be sent to us: no text of the screen is in it.

use std::sync::Arc;

use mdm_core::port::{Captured, DeviceError};
use mdm_wire::helper::{Answer, Request, TreeAnswer};
use tokio::time::{Duration, Instant, timeout};

use super::heard::EventMemory;
use super::link::Link;
use super::start::{self, Names, StartError};
use super::{differences, say_goodbye};
use crate::adb::Script;
use crate::device::{AndroidDevice, SHORT_BYTES_MAX};

/// How long a change of the screen is listened for.
const LISTENED: Duration = Duration::from_secs(3);
/// The picture that is asked for: about what an agent is sent.
const PICTURE_PX_MAX: u16 = 1_000;
const PICTURE_QUALITY: u8 = 80;

impl AndroidDevice {
    /// Starts a helper of its own, compares its tree with a dump, listens, takes a picture, and ends it.
    pub async fn examine_helper(&self) -> Vec<String> {
        let mut lines = vec![self.about().await];
        let names = Names::new(self.session(), 0);
        let mut left = self.leaves(names.file.clone());
        let memory = Arc::<EventMemory>::default();
        let begun = Instant::now();
        match start::start(&self.adb, &names, Arc::clone(&memory)).await {
            Ok((link, welcome)) => {
                left.files.clear();
                lines.push(format!("started in {} ms, sdk {}", begun.elapsed().as_millis(), welcome.sdk));
                if let Err(error) = self.examine(&link, &memory, &mut lines).await {
                    lines.push(format!("! {}", error.detail));
                }
                say_goodbye(&link).await;
            }
            Err(StartError::Adb(error)) => lines.push(format!("! {error}")),
            Err(StartError::Failed(why)) => lines.push(format!("! does not start: {why}")),
        }
        lines
    }

    async fn about(&self) -> String {
        let script = Script::new("getprop ro.build.version.release; getprop ro.build.version.sdk; ")
            .then("getprop ro.product.manufacturer; getprop ro.product.model; getprop ro.build.display.id");
        match self.run(&script, SHORT_BYTES_MAX).await {
            Ok(output) => output.stdout_text().lines().map(str::trim).collect::<Vec<_>>().join(", "),
            Err(error) => format!("! {}", error.detail),
        }
    }

    async fn examine(
        &self,
        link: &Link,
        memory: &EventMemory,
        lines: &mut Vec<String>,
    ) -> Result<(), DeviceError> {
        let begun = Instant::now();
        let answer = link.request(&Request::Tree { known: 0 }).await?;
        let Answer::Tree(answer) = answer else { return Err(link.cut("no tree in the answer").into()) };
        let TreeAnswer::New { hash, tree } = *answer else {
            return Err(link.cut("the tree is the same as none").into());
        };
        let nodes: usize = tree.windows.iter().map(|window| window.nodes.len()).sum();
        let took = begun.elapsed().as_millis();
        lines.push(format!("tree of {} windows and {nodes} elements in {took} ms", tree.windows.len()));
        link.request(&Request::Release).await?;
        let begun = Instant::now();
        let dump = self.capture(None).await?;
        lines.push(format!("dump in {} ms", begun.elapsed().as_millis()));
        let after = link.request(&Request::Tree { known: hash }).await?;
        // It forgot its trees when it gave UiAutomation back, so it sends an equal one again.
        let is_same = match &after {
            Answer::Tree(answer) => match answer.as_ref() {
                TreeAnswer::Same => true,
                TreeAnswer::New { hash: after, .. } => *after == hash,
            },
            _ => false,
        };
        if let Captured::New { snapshot, .. } = dump.screen {
            let how = differences(&tree, &snapshot);
            lines.push(match (how.is_empty(), is_same) {
                (true, _) => "the tree agrees with the dump".to_owned(),
                (false, false) => {
                    "the screen changed between tree and dump: try again while it rests".to_owned()
                }
                (false, true) => format!("! the tree differs from the dump: {}", how.join("; ")),
            });
        }
        let begun = Instant::now();
        let (width_max, height_max, quality) = (PICTURE_PX_MAX, PICTURE_PX_MAX, PICTURE_QUALITY);
        match link.request(&Request::Picture { width_max, height_max, quality }).await {
            Ok(Answer::Picture(picture)) => lines.push(format!(
                "picture of {} bytes in {} ms",
                picture.bytes.len(),
                begun.elapsed().as_millis()
            )),
            Ok(_) => return Err(link.cut("no picture in the answer").into()),
            Err(error) => lines.push(format!("! no picture: {}", DeviceError::from(error).detail)),
        }
        link.request(&Request::Events { on: true }).await?;
        lines.push(match timeout(LISTENED, memory.next(0)).await {
            Ok(_) => "a change was told".to_owned(),
            Err(_) => {
                format!("no change was told within {} s; touch the screen to try it", LISTENED.as_secs())
            }
        });
        Ok(())
    }
}
