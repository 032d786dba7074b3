import LMDB

/// The data file that a mark describes.
struct MarkedFile: Equatable, Sendable {
  /// The identity of the data file. Nil in a mark of an older version.
  var identity: StoreIdentity?
  /// The fingerprint with which the store left the data file. Nil if the store cannot vouch for the file.
  var fingerprint: DataFileFingerprint?
  /// The newest commit of the data file. Nil if it is not known.
  var history: DataFileHistory?
}

extension MarkedFile {
  /// Describes the closed file at a path, for which the caller vouches.
  init(at path: String, identity: StoreIdentity?) {
    self.init(
      identity: identity, fingerprint: DataFileFingerprint(of: path), history: DataFileHead(of: path)?.history)
  }
}
