import CLMDB

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
  /// Returns the oldest snapshot that a reader of any process uses, or nil if no reader is active.
  ///
  /// The result is a lower bound only inside a write transaction: a reader that begins later sees the last commit. A
  /// dead process counts until ``clearStaleReaders()``. O(n) for n slots.
  package func oldestSnapshot() throws(LMDBError) -> UInt? {
    try whileOpen("list the readers") { () throws(LMDBError) in unsafe try LMDB.oldestSnapshot(of: handle) }
  }
}

extension WriteTransaction {
  /// Returns the oldest snapshot that a reader of any process uses, or nil if no reader is active.
  ///
  /// No reader uses an older one until this transaction ends. A dead process counts until
  /// ``Environment/clearStaleReaders()``. O(n) for n slots.
  package borrowing func oldestSnapshot() throws(LMDBError) -> UInt? {
    unsafe try LMDB.oldestSnapshot(of: environment.takeUnretainedValue().handle)
  }
}

private func oldestSnapshot(of environment: OpaquePointer) throws(LMDBError) -> UInt? {
  // No transaction has this number: LMDB uses it for idle slots.
  var oldest = UInt.max
  let status = unsafe withUnsafeMutablePointer(to: &oldest) { oldest in
    unsafe mdb_reader_list(
      environment,
      { line, context in
        guard let line = unsafe line, let context = unsafe context, let number = unsafe lastNumber(of: line) else {
          return 0
        }
        let oldest = unsafe context.assumingMemoryBound(to: UInt.self)
        unsafe oldest.pointee = unsafe min(oldest.pointee, number)
        return 0
      }, oldest)
  }
  if status < 0 { throw LMDBError(status: status, operation: "list the readers") }
  return oldest == .max ? nil : oldest
}

/// Returns the number in the last field of a line, or nil if that field is a word or a dash.
private func lastNumber(of line: UnsafePointer<CChar>) -> UInt? {
  var number: UInt?
  var position = unsafe line
  while unsafe position.pointee != 0 {
    switch unsafe UInt8(bitPattern: position.pointee) {
    case UInt8(ascii: " "): number = 0
    case UInt8(ascii: "\n"): break
    case let digit where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit):
      number = number.map { $0 &* 10 &+ UInt(digit - UInt8(ascii: "0")) }
    default: number = nil
    }
    unsafe position += 1
  }
  return number
}
