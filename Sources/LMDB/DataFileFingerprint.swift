#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file fingerprint of a data file, which shows whether the file was changed or replaced.
package struct DataFileFingerprint: Sendable, Equatable {
  /// The inode number. A copy of the file has another one.
  package let node: UInt64
  /// The size in bytes.
  package let size: Int64
  /// The time of the last change of the content, in nanoseconds since 1970.
  package let modified: Int64
  /// The time of the last change of the content or the metadata, in nanoseconds since 1970. Programs cannot set it.
  package let changed: Int64

  package init(node: UInt64, size: Int64, modified: Int64, changed: Int64) {
    self.node = node
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  /// Reads the fingerprint of the file at the path. Returns nil if the file is missing.
  package init?(of path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  init(_ status: stat) {
    #if canImport(Darwin)
      let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (modified, changed) = (status.st_mtim, status.st_ctim)
    #endif
    self.init(
      node: UInt64(truncatingIfNeeded: status.st_ino), size: Int64(status.st_size),
      modified: nanoseconds(modified), changed: nanoseconds(changed))
  }
}

private func nanoseconds(_ time: timespec) -> Int64 {
  Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}

extension Environment {
  /// Sets the times of the data file and returns a fingerprint that the next change cannot repeat.
  ///
  /// Without this, two changes may have the same time, because the system's clock for files may not advance for
  /// milliseconds.
  package func fingerprintDataFile() throws(LMDBError) -> DataFileFingerprint {
    try withDataFile("read the fingerprint of the data file") { (descriptor) throws(LMDBError) in
      var now = timespec()
      unsafe clock_gettime(CLOCK_REALTIME, &now)
      // The process cannot set the times of another user's file. The fingerprint then has the current times.
      let times = [now, now]
      _ = unsafe times.withUnsafeBufferPointer { unsafe futimens(descriptor, $0.baseAddress) }
      return DataFileFingerprint(try fileStatus(descriptor, operation: "read the fingerprint of the data file"))
    }
  }

  /// Returns the fingerprint of the data file without changing its times.
  package func dataFileFingerprint() throws(LMDBError) -> DataFileFingerprint {
    try withDataFile("examine the data file") { (descriptor) throws(LMDBError) in
      DataFileFingerprint(try fileStatus(descriptor, operation: "examine the data file"))
    }
  }
}
