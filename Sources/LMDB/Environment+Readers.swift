import CLMDB

/// A reader slot that is in use.
package struct ReaderSlot: Sendable, Equatable {
  /// The ID of the process that uses the slot.
  package let process: Int32
  /// The commit whose pages the slot protects from reuse, or nil if its transaction is idle.
  package let transaction: UInt?
}

extension Environment {
  /// Frees the reader slots of dead processes, and returns their number. Their snapshots would make the file grow.
  @discardableResult
  package func clearStaleReaders() throws(LMDBError) -> Int {
    try whileOpen("clear stale readers") { () throws(LMDBError) in
      var count: Int32 = 0
      try check(unsafe mdb_reader_check(handle, &count), "clear stale readers")
      return Int(count)
    }
  }

  /// Returns the reader slots that are in use in all processes. A slot with an old transaction makes the file grow.
  ///
  /// O(n) for n slots.
  package func readers() throws(LMDBError) -> [ReaderSlot] {
    var text = ""
    try whileOpen("list the readers") { () throws(LMDBError) in
      // LMDB reports slots only as text: a heading, then a line with process, thread, and transaction or a dash.
      let status = unsafe withUnsafeMutablePointer(to: &text) { text in
        unsafe mdb_reader_list(
          handle,
          { line, context in
            guard let line = unsafe line, let context = unsafe context else { return 0 }
            unsafe context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
            return 0
          }, text)
      }
      // The status is the number of lines, or negative for an error.
      if status < 0 { throw LMDBError(status: status, operation: "list the readers") }
    }
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count == 3, let process = Int32(fields[0]) else { return nil }
      return ReaderSlot(process: process, transaction: UInt(fields[2]))
    }
  }
}
