//! `screenshotr`: pictures of the screen, over the DeviceLink protocol.

use std::io;

use plist::Value;

use crate::helpers::picture;
use crate::iphone::IPhone;
use crate::iphone::usbmux::Wire;
use crate::iphone::usbmux::plists::{dictionary, read, write_binary};

const VERSION: u64 = 300;

pub async fn serve(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    let hello = ["DLMessageVersionExchange".into(), VERSION.into(), 0_u64.into()];
    write_binary(stream, &Value::Array(hello.to_vec())).await?;
    if word(&read(stream).await?, 1) != Some("DLVersionsOk") {
        return Ok(());
    }
    write_binary(stream, &Value::Array(vec!["DLMessageDeviceReady".into()])).await?;
    loop {
        let message = read(stream).await?;
        if word(&message, 0) != Some("DLMessageProcessMessage") {
            return Ok(());
        }
        let png = Value::Data(picture::png(phone.phone()).to_vec());
        let reply = dictionary([("MessageType", "ScreenShotReply".into()), ("ScreenShotData", png)]);
        write_binary(stream, &Value::Array(vec!["DLMessageProcessMessage".into(), reply])).await?;
    }
}

fn word(message: &Value, at: usize) -> Option<&str> {
    message.as_array()?.get(at)?.as_string()
}
