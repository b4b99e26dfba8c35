use std::sync::Arc;
use mdm_ios::idb::*;
use mdm_virtual_device::*;
fn idb(phone: &IPhone) -> Idb {
    let phone = phone.clone();
    Idb::new(Arc::new(move || {
        let stream = phone.connect_companion();
        Box::pin(async move { Ok(Box::new(stream?) as Box<dyn mdm_ios::connect::Transport>) })
    }))
}
#[tokio::test(start_paused = true)]
async fn look() {
    let phone = IPhone::new(IPhoneConfig::default());
    let idb = idb(&phone);
    eprintln!("{:?}", idb.describe().await);
    eprintln!("{:?}", idb.apps().await);
    eprintln!("{}", String::from_utf8(idb.tree(&[]).await.unwrap().to_vec()).unwrap());
}
