//! `dtservicehub`: the channels of Instruments over DTX, of which only the one for pictures is served.

use std::collections::BTreeMap;
use std::io;

use mdm_wire::dtx::{Argument, Content};
use plist::Value;

use crate::helpers::picture;
use crate::iphone::IPhone;
use crate::iphone::usbmux::{Wire, dtx};

const CHANNELS_MAX: usize = 64;
const PICTURES: &str = "com.apple.instruments.server.services.screenshot";

pub async fn serve(phone: &IPhone, mut stream: impl Wire) -> io::Result<()> {
    let mut channels: BTreeMap<i32, String> = BTreeMap::new();
    loop {
        let call = dtx::read(&mut stream).await?;
        let Content::Call { method, arguments } = &call.content else { continue };
        if let (
            "_requestChannelWithCode:identifier:",
            [Argument::Number(code), Argument::Object(Value::String(name))],
        ) = (method.as_str(), arguments.as_slice())
            && channels.len() < CHANNELS_MAX
        {
            channels.insert(i32::try_from(*code).unwrap_or(0), name.clone());
        }
        let takes_picture =
            channels.get(&call.channel).is_some_and(|name| name == PICTURES) && method == "takeScreenshot";
        let object = takes_picture.then(|| Value::Data(picture::png(phone.phone()).to_vec()));
        if call.wants_reply {
            dtx::write(&mut stream, &call.answer(Content::Answer(object))).await?;
        }
    }
}
