//! Files of the phone, in containers.

use super::Payload;

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct FileContainer {
    #[prost(enumeration = "ContainerKind", tag = "1")]
    pub kind: i32,
    #[prost(string, tag = "2")]
    pub bundle_id: String,
}

/// Those that we use; a companion knows more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum ContainerKind {
    None = 0,
    Application = 1,
    Root = 2,
    Media = 3,
    Crashes = 4,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct FileInfo {
    #[prost(string, tag = "1")]
    pub path: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct FileListing {
    #[prost(message, optional, tag = "1")]
    pub parent: Option<FileInfo>,
    #[prost(message, repeated, tag = "2")]
    pub files: Vec<FileInfo>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct LsRequest {
    /// Old clients name one path, new ones `paths`.
    #[prost(string, tag = "2")]
    pub path: String,
    #[prost(message, optional, tag = "3")]
    pub container: Option<FileContainer>,
    #[prost(string, repeated, tag = "4")]
    pub paths: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct LsResponse {
    #[prost(message, repeated, tag = "1")]
    pub files: Vec<FileInfo>,
    #[prost(message, repeated, tag = "2")]
    pub listings: Vec<FileListing>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct PullRequest {
    #[prost(string, tag = "2")]
    pub src_path: String,
    /// Empty: the bytes are wanted, in a packed archive.
    #[prost(string, tag = "3")]
    pub dst_path: String,
    #[prost(message, optional, tag = "4")]
    pub container: Option<FileContainer>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct PullResponse {
    #[prost(message, optional, tag = "1")]
    pub payload: Option<Payload>,
}
