import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// The space of a transaction's new pages on the device.
//
// A transaction can take new pages at the end of the file, and give them back before its end. Examples are the pages of
// a value that it removes again, and of a tree that shrinks. LMDB then lists them as free, but never writes them. On a
// full device, the file would have no space for these pages. LMDB takes the pages of the oldest list first, so no later
// transaction could be written, however small.

extension WriteTransaction {
  /// Gives the file space for all pages up to the last one that the transaction has taken, and for ``sparePages``
  /// behind it. Must be called before the commit.
  ///
  /// - Throws: `LMDBError` with the code `noSpace` if the device has no space for them. The transaction must then
  ///   abort. The file is as large as the device allows.
  borrowing func backNewPages() throws(LMDBError) {
    let environment = unsafe environment.takeUnretainedValue()
    let information = try environment.information()
    let committed = information.pageCount
    let most = information.mapSize / information.pageSize
    guard let end = unsafe nextPage(of: environment.handle), (committed...max(committed, most)).contains(end) else {
      return
    }
    let needed = min(end + sparePages, max(end, most))
    guard needed * information.pageSize > information.fileSize else { return }
    var descriptor: mdb_filehandle_t = -1
    try check(unsafe mdb_env_get_fd(environment.handle, &descriptor), "commit")
    // No transaction has written the bytes behind the end of the file. Pages that another version of this layer left
    // without space are among them.
    do throws(LMDBError) {
      try writeZeros(from: information.fileSize, to: needed * information.pageSize, of: descriptor)
    } catch {
      if end > committed { throw error }
    }
  }

  /// Returns the number of the page with which the file would grow next. Nil if LMDB's own transaction has another
  /// layout.
  ///
  /// LMDB has no function for this number before the commit.
  private borrowing func nextPage(of environment: OpaquePointer?) -> Int? {
    // In bounds: a transaction of LMDB 0.9 begins with these five words, and is larger in all versions.
    let fields = unsafe UnsafeRawPointer(handle).assumingMemoryBound(to: PrivateFields.self)
    // Both facts are known, and follow the number. An unknown layout would show other values.
    guard unsafe fields.pointee.number == mdb_txn_id(handle), unsafe fields.pointee.environment == environment else {
      return nil
    }
    return unsafe Int(exactly: fields.pointee.nextPage)
  }
}

/// The beginning of LMDB's own transaction.
@unsafe
private struct PrivateFields {
  let parent: OpaquePointer?
  let child: OpaquePointer?
  let nextPage: UInt
  let number: Int
  let environment: OpaquePointer?
}

/// Writes zeros to a part of a file.
private func writeZeros(from start: Int, to end: Int, of descriptor: Int32) throws(LMDBError) {
  guard start < end else { return }
  let zeros = [UInt8](repeating: 0, count: min(end - start, 256 << 10))
  var offset = start
  while offset < end {
    // The array outlives the span, which is used in this turn only.
    let part = unsafe zeros.span.bytes.extracting(0..<min(end - offset, zeros.count))
    unsafe try part.withUnsafeBytes { (bytes) throws(LMDBError) in
      unsafe try writeCompletely(bytes, to: descriptor, at: offset) { unsafe pwrite($0, $1, $2, $3) }
    }
    offset += part.byteCount
  }
}
