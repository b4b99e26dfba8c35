use prost::Message as _;

use super::*;

/// The bytes were made by hand from the numbers of the fields.
#[test]
fn a_touch_is_encoded_byte_by_byte_as_the_numbers_say() {
    let down = HidEvent {
        event: Some(HidAction::Press(HidPress {
            action: Some(HidPressAction {
                action: Some(HidPressed::Touch(HidTouch { point: Some(Point { x: 1.0, y: 2.0 }) })),
            }),
            direction: HidDirection::Up.into(),
        })),
    };
    let mut expected = vec![0x0a, 26, 0x0a, 22, 0x0a, 20, 0x0a, 18, 0x09];
    expected.extend(1.0f64.to_le_bytes());
    expected.push(0x11);
    expected.extend(2.0f64.to_le_bytes());
    expected.extend([0x10, 0x01]);
    assert_eq!(down.encode_to_vec(), expected);
    assert_eq!(HidEvent::decode(expected.as_slice()), Ok(down));
}

#[test]
fn fields_of_a_newer_companion_are_skipped() {
    // Field 11 of a description is a display that we do not read, field 99 is nobody's.
    let bytes = [&[0x0a, 2][..], b"ab", &[0x5a, 3, 0x0a, 1, b'x'], &[0x9a, 0x06, 1, 0]].concat();
    let target = TargetDescription::decode(bytes.as_slice()).expect("a description");
    assert_eq!(target.udid, "ab");
}

#[test]
fn a_number_that_no_enumeration_has_is_kept() {
    let app = InstalledAppInfo::decode(&[0x28, 42][..]).expect("an app");
    assert_eq!(app.process_state, 42);
    assert_eq!(AppProcessState::try_from(app.process_state).ok(), None);
}
