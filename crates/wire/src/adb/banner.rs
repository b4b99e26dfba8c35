//! The text that both ends exchange in CNXN: their kind, properties and features.

/// A banner such as `device::ro.product.name=a;ro.product.model=b;features=x,y` or `host::features=x,y`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Banner {
    /// `device`, `host`, `recovery`, `sideload`, `bootloader`.
    pub kind: String,
    pub properties: Vec<(String, String)>,
    pub features: Vec<String>,
}

impl Banner {
    pub fn parse(payload: &[u8]) -> Banner {
        let text = String::from_utf8_lossy(payload);
        let text = text.trim_end_matches('\0');
        let mut parts = text.splitn(3, ':');
        let kind = parts.next().unwrap_or("").to_owned();
        let mut banner = Banner { kind, ..Banner::default() };
        for pair in parts.nth(1).unwrap_or("").split(';') {
            match pair.split_once('=') {
                Some(("features", list)) => {
                    banner.features = list.split(',').filter(|f| !f.is_empty()).map(str::to_owned).collect();
                }
                Some((key, value)) => banner.properties.push((key.to_owned(), value.to_owned())),
                None => {}
            }
        }
        banner
    }

    pub fn property(&self, key: &str) -> Option<&str> {
        self.properties.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    pub fn has_feature(&self, feature: &str) -> bool {
        self.features.iter().any(|f| f == feature)
    }

    pub fn encode(&self) -> String {
        let mut text = format!("{}::", self.kind);
        for (key, value) in &self.properties {
            text.push_str(&format!("{key}={value};"));
        }
        text.push_str(&format!("features={}", self.features.join(",")));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_is_parsed_and_encoded_back() {
        let text = "device::ro.product.name=sdk;ro.product.model=Pixel_9;features=shell_v2,cmd";
        let banner = Banner::parse(text.as_bytes());
        assert_eq!(banner.kind, "device");
        assert_eq!(banner.property("ro.product.model"), Some("Pixel_9"));
        assert!(banner.has_feature("cmd"));
        assert_eq!(banner.encode(), text);
    }

    #[test]
    fn an_old_device_without_features_parses() {
        assert_eq!(Banner::parse(b"device::\0"), Banner { kind: "device".into(), ..Banner::default() });
        assert_eq!(Banner::parse(b"\xff\xfe").features, Vec::<String>::new());
    }
}
