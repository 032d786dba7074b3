import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A value that a write transaction can overwrite in its place, without LMDB.
///
/// A write changes the file at once: readers see it in their snapshots, and an abort does not undo it. The caller
/// ensures that no reader uses the bytes. The next commit that changes a database also makes the bytes durable, if it
/// waits for its pages at all. A commit without a change does not.
///
/// The compiler ensures that the value does not outlive its transaction, and that no put or removal happens while it
/// exists.
package struct FixedValue: ~Copyable, ~Escapable {
  package let place: ValuePlace
  // LMDB owns the descriptor, and the transaction keeps the environment open.
  private let descriptor: Int32

  @_lifetime(immortal)
  init(place: ValuePlace, descriptor: Int32) {
    self.place = place
    self.descriptor = descriptor
  }

  /// Writes the bytes at an offset in the value, which must have room for them.
  ///
  /// - Throws: ``LMDBError`` with the position in the file and the number of missing bytes. Its code is `noSpace` if
  ///   the disk is full, and `ioError` if it failed. Any part of the bytes may then be written.
  package borrowing func write(_ bytes: RawSpan, at offset: Int) throws(LMDBError) {
    precondition(place.contains(bytes.byteCount, at: offset), "the bytes are not within the value")
    let (descriptor, start) = (descriptor, place.fileOffset + offset)
    unsafe try bytes.withUnsafeBytes { (bytes) throws(LMDBError) in
      unsafe try writeCompletely(bytes, to: descriptor, at: start) { unsafe pwrite($0, $1, $2, $3) }
    }
  }
}

@available(*, unavailable, message: "a value cannot be written by another thread")
extension FixedValue: Sendable {}

extension WriteTransaction {
  /// Returns the value of the key, for writes in its place. O(log n).
  ///
  /// The result is nil in the cases of `place(ofValueForKey:in:)`. In particular, a new value must be committed first.
  @_lifetime(borrow self)
  package borrowing func fixedValue(
    forKey key: UInt, in database: IntegerDatabase
  ) throws(LMDBError) -> FixedValue? {
    guard let place = try place(ofValueForKey: key, in: database) else { return nil }
    var descriptor: mdb_filehandle_t = -1
    let environment = unsafe environment.takeUnretainedValue().handle
    try check(unsafe mdb_env_get_fd(environment, &descriptor), "write a value in its place")
    let value = FixedValue(place: place, descriptor: descriptor)
    return unsafe _overrideLifetime(value, borrowing: self)
  }
}

/// Writes all bytes at an offset of a file. The system may write a part of them, or be interrupted.
///
/// - Parameters:
///   - bytes: The bytes.
///   - descriptor: The file.
///   - offset: The place in the file.
///   - write: The system call, with the descriptor, the bytes, their number and the offset.
/// - Throws: `LMDBError` if the system call fails.
func writeCompletely(
  _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int,
  by write: (Int32, UnsafeRawPointer, Int, off_t) -> Int
) throws(LMDBError) {
  var done = 0
  while done < bytes.count {
    let rest = bytes.count - done
    // In bounds: `done` is less than the number of bytes.
    let count = unsafe write(descriptor, bytes.baseAddress! + done, rest, off_t(offset + done))
    if count > 0 {
      done += count
    } else {
      // A file system that writes nothing and reports no error would cause an endless loop.
      let status = count == 0 ? EIO : errno
      if status == EINTR { continue }
      throw LMDBError(status: status, operation: "write \(rest) bytes at the file offset \(offset + done)")
    }
  }
}
