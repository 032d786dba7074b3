#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What tells whether a data file is as it was left: which file it is, its size, and when it was last changed.
package struct DataFileStamp: Sendable, Equatable {
  /// The file's number in its file system: a copy has another.
  package let node: UInt64
  /// Its bytes.
  package let size: Int64
  /// When its content was last written, in nanoseconds since 1970.
  package let modified: Int64
  /// When anything about it was last changed, this included; nobody can set it.
  package let changed: Int64

  package init(node: UInt64, size: Int64, modified: Int64, changed: Int64) {
    self.node = node
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  /// The stamp of the file at `path`; nil where there is none.
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
  /// The data file's stamp, after it was given one that the next change will not give it again: the system's own clock
  /// for files may stand still for milliseconds, and two changes in one of its ticks look the same.
  package func stampDataFile() throws(LMDBError) -> DataFileStamp {
    try withDataFile("stamp the data file") { (descriptor) throws(LMDBError) in
      var now = timespec()
      unsafe clock_gettime(CLOCK_REALTIME, &now)
      // Where the file is another user's, its times cannot be set; they are what they are then.
      let times = [now, now]
      _ = unsafe times.withUnsafeBufferPointer { unsafe futimens(descriptor, $0.baseAddress) }
      return DataFileStamp(try fileStatus(descriptor, operation: "stamp the data file"))
    }
  }

  /// The data file's stamp, as it is.
  package func dataFileStamp() throws(LMDBError) -> DataFileStamp {
    try withDataFile("look at the data file") { (descriptor) throws(LMDBError) in
      DataFileStamp(try fileStatus(descriptor, operation: "look at the data file"))
    }
  }
}
