//! Touches through the panel's device file: `getevent`, `sendevent`, and their effect on an app (GE-01).

use mdm_virtual_device::{Applied, DevInput, Phone, PhoneConfig};

use crate::host::Host;

const EVENT: &str = "/dev/input/event2";

async fn on_zoom(config: PhoneConfig) -> (Phone, Host) {
    let phone = Phone::new(config);
    let mut host = Host::connect(&phone).await;
    host.shell("am start -n com.workbench/.ZoomActivity").await;
    (phone, host)
}

async fn said(host: &mut Host, script: &str) -> String {
    let said = host.shell(script).await;
    said.out + &said.err
}

/// Returns panel units for the middle of a pixel of the upright screen, so that rounding does not matter.
fn raw((x, y): (i32, i32)) -> (i32, i32) {
    ((x * 2 + 1) * 32_768 / 2160, (y * 2 + 1) * 32_768 / 4800)
}

fn put(slot: usize, id: Option<i64>, at: Option<(i32, i32)>) -> String {
    let mut script = format!("sendevent {EVENT} 3 47 {slot};");
    if let Some(id) = id {
        script += &format!("sendevent -- {EVENT} 3 57 {id};");
    }
    if let Some((x, y)) = at.map(raw) {
        script += &format!("sendevent {EVENT} 3 53 {x}; sendevent {EVENT} 3 54 {y};");
    }
    script
}

fn report() -> String {
    format!("sendevent {EVENT} 0 0 0;")
}

/// Moves two fingers, one above the other, through these distances.
fn pinch(x: i32, y: i32, spans: &[i32]) -> String {
    let mut script = String::new();
    for (frame, span) in spans.iter().enumerate() {
        let id = |id| (frame == 0).then_some(id);
        script += &put(0, id(1), Some((x, y - span / 2)));
        script += &(put(1, id(2), Some((x, y + span / 2))) + &report());
    }
    script + &put(0, Some(-1), None) + &put(1, Some(-1), None) + &report()
}

fn zoom(phone: &Phone) -> f32 {
    phone.truth().sliders.get("gallery.photo_zoom").copied().unwrap_or(1.0)
}

#[tokio::test(start_paused = true)]
async fn the_panel_is_listed_as_phones_list_it() {
    let (_, mut host) = on_zoom(PhoneConfig::default()).await;
    let codes = said(&mut host, "getevent -p").await;
    let begin = "add device 3: /dev/input/event2\n  name:     \"virtual_touchscreen\"\n  events:\n    KEY (0001): 014a \n    \
                 ABS (0003): 002f  : value 0, min 0, max 9, fuzz 0, flat 0, resolution 0\n";
    assert!(codes.contains(begin), "{codes}");
    assert!(codes.contains("\n                0035  : value 0, min 0, max 32767, "), "{codes}");
    assert!(codes.ends_with("  input props:\n    INPUT_PROP_DIRECT\n"), "{codes}");
    let names = said(&mut host, &format!("getevent -pl {EVENT}")).await;
    assert!(names.starts_with("add device 1: /dev/input/event2\n"), "{names}");
    assert!(
        names.contains("\n                ABS_MT_POSITION_X     : value 0, min 0, max 32767, "),
        "{names}"
    );
    let listed = said(&mut host, "ls -l /dev/input; [ -w /dev/input/event2 ] && echo writable").await;
    assert_eq!(listed.matches("crw-rw----").count(), 3, "{listed}");
    assert!(listed.ends_with("writable\n"), "{listed}");
}

#[tokio::test(start_paused = true)]
async fn two_fingers_zoom_by_the_change_of_their_distance() {
    let (phone, mut host) = on_zoom(PhoneConfig::default()).await;
    // The first 60 pixels are what makes it a pinch.
    host.shell(&pinch(540, 900, &[440, 500, 600, 800, 900])).await;
    assert!((zoom(&phone) - 1.8).abs() < 0.02, "{}", zoom(&phone));
    host.shell(&pinch(540, 900, &[960, 900, 700, 600])).await;
    assert!((zoom(&phone) - 1.2).abs() < 0.02, "{}", zoom(&phone));
    let inputs = phone.truth().inputs;
    let [Applied::Pinch { from, to, hit: Some(hit), .. }, Applied::Pinch { .. }] = &inputs[..] else {
        panic!("{inputs:?}");
    };
    assert_eq!((from, to), (&[(540, 680), (540, 1120)], &[(540, 450), (540, 1350)]));
    assert_eq!(hit.label, "Photo");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_pinch_zooms_nothing() {
    let (phone, mut host) = on_zoom(PhoneConfig::default()).await;
    // Too close together (27 mm are 446 pixels), hardly moved, one finger beside the photo, three fingers.
    host.shell(&pinch(540, 900, &[100, 200, 300, 440])).await;
    host.shell(&pinch(540, 900, &[600, 610, 620, 630, 620])).await;
    host.shell(&pinch(540, 1300, &[500, 700, 900])).await;
    let third = put(2, Some(3), Some((100, 900))) + &report();
    host.shell(&(third + &pinch(540, 900, &[500, 700, 900]))).await;
    host.shell(&(put(2, Some(-1), None) + &report())).await;
    assert_eq!(zoom(&phone), 1.0);
    let truth = phone.truth();
    assert_eq!(truth.sliders.get("gallery.taps"), None, "{:?}", truth.inputs);
    host.shell(&pinch(540, 900, &[440, 500, 1000])).await;
    assert!((zoom(&phone) - 2.0).abs() < 0.02, "and afterwards all is as before: {}", zoom(&phone));
}

#[tokio::test(start_paused = true)]
async fn one_finger_is_the_finger_of_every_other_way_in() {
    let (phone, mut host) = on_zoom(PhoneConfig::default()).await;
    let photo = put(0, Some(1), Some((540, 900))) + &report() + &put(0, Some(-1), None) + &report();
    host.shell(&photo).await;
    assert_eq!(zoom(&phone), 1.0, "a photo takes no taps");
    let like = (540, 1450);
    host.shell(&(put(0, Some(1), Some(like)) + &report() + &put(0, Some(4_294_967_295), None))).await;
    assert_eq!(phone.truth().inputs.len(), 1, "nothing counts before a report");
    host.shell(&report()).await;
    let truth = phone.truth();
    assert!(matches!(&truth.inputs[1], Applied::Swipe { from, to, .. } if from == to && *from == like));
    assert_eq!(truth.sliders["gallery.taps"], 1.0, "{:?}", truth.inputs);
}

#[tokio::test(start_paused = true)]
async fn the_panel_does_not_turn_with_the_screen() {
    let (phone, mut host) = on_zoom(PhoneConfig::default()).await;
    // A touch on the panel near its upper left corner, as a person sees it who holds the phone upright.
    let corner = put(0, Some(1), Some((100, 300))) + &report() + &put(0, Some(-1), None) + &report();
    for (rotation, seen) in [(0, (100, 300)), (1, (300, 979)), (2, (979, 2099)), (3, (2099, 100))] {
        host.shell("settings put system accelerometer_rotation 0").await;
        host.shell(&format!("settings put system user_rotation {rotation}")).await;
        host.shell(&corner).await;
        let inputs = phone.truth().inputs;
        assert!(matches!(inputs.last(), Some(Applied::Swipe { from, .. }) if *from == seen), "{inputs:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shell_that_may_not_write_is_refused_and_nonsense_changes_nothing() {
    let locked = PhoneConfig { dev_input: DevInput::ReadOnly, ..PhoneConfig::default() };
    let (phone, mut host) = on_zoom(locked).await;
    let refused = said(&mut host, &format!("[ -w {EVENT} ] || echo locked; sendevent {EVENT} 0 0 0")).await;
    assert_eq!(refused, "locked\nsendevent: /dev/input/event2: Permission denied\n");
    host.shell(&pinch(540, 900, &[440, 500, 1000])).await;
    assert_eq!((zoom(&phone), phone.truth().inputs), (1.0, vec![]));
    let (phone, mut host) = on_zoom(PhoneConfig::default()).await;
    let toybox = said(&mut host, &format!("sendevent {EVENT} 3 57 -1")).await;
    assert!(toybox.contains("Unknown option"), "{toybox}");
    let script = format!(
        "sendevent {EVENT} 3 47 99; sendevent {EVENT} 3 47 4294967295; sendevent {EVENT} 3 53 99999999999999999999; \
         sendevent {EVENT} 70000 1 1; sendevent {EVENT} x y z; sendevent /dev/input/event9 0 0 0; sendevent; getevent"
    );
    let complaints = said(&mut host, &script).await;
    assert!(complaints.contains("event9: No such file or directory"), "{complaints}");
    assert_eq!(phone.truth().inputs, []);
}
