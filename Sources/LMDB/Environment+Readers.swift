import CLMDB

/// A reader slot that is taken.
package struct ReaderSlot: Sendable, Equatable {
  /// The process that took it.
  package let process: Int32
  /// The commit whose pages it keeps from being used again; nil while it only keeps the slot.
  package let transaction: UInt?
}

extension Environment {
  /// Frees the reader slots of processes that died, whose snapshots would keep the file growing; answers how many.
  @discardableResult
  package func clearStaleReaders() throws(LMDBError) -> Int {
    try whileOpen("clear stale readers") { () throws(LMDBError) in
      var count: Int32 = 0
      try check(unsafe mdb_reader_check(handle, &count), "clear stale readers")
      return Int(count)
    }
  }

  /// The reader slots that are taken, by all processes; linear in their number. A slot with an old transaction keeps the
  /// file growing.
  package func readers() throws(LMDBError) -> [ReaderSlot] {
    var text = ""
    try whileOpen("list the readers") { () throws(LMDBError) in
      // LMDB tells them only as lines of text: process, thread, transaction or a dash, below a heading.
      let status = unsafe withUnsafeMutablePointer(to: &text) { text in
        unsafe mdb_reader_list(
          handle,
          { line, context in
            guard let line = unsafe line, let context = unsafe context else { return 0 }
            unsafe context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
            return 0
          }, text)
      }
      // The number of lines, or a failure.
      if status < 0 { throw LMDBError(status: status, operation: "list the readers") }
    }
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count == 3, let process = Int32(fields[0]) else { return nil }
      return ReaderSlot(process: process, transaction: UInt(fields[2]))
    }
  }
}
