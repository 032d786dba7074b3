import Foundation
import LMDB
import TestDirectories

/// Changes a data file anywhere. Either the check finds the damage, or LMDB reads and changes the whole file without
/// harm.
func fuzzDataFiles(_ input: [UInt8]) {
  let bytes = changed(DataFileTrial.sound, by: input)
  DataFileTrial.write(bytes)
  guard DataFileTrial.isSound else {
    require(bytes != DataFileTrial.sound, "a file of LMDB is found damaged")
    return
  }
  DataFileTrial.use()
}

/// Returns the bytes with changes from the input. The first byte truncates or extends the end. Each change consists
/// of a page, an offset in it, and a number of one to eight bytes.
private func changed(_ sound: [UInt8], by input: [UInt8]) -> [UInt8] {
  var source = ByteSource(input)
  var bytes = sound
  let tail = Int(Int8(bitPattern: source.byte()))
  if tail < 0 { bytes.removeLast(-tail * 512) }
  if tail > 0 { bytes += [UInt8](repeating: source.byte(), count: tail * 512) }
  while !source.isEmpty {
    let page = Int(source.byte()) % (bytes.count / DataFileTrial.pageSize)
    let offset = Int(source.number(UInt16.self)) % DataFileTrial.pageSize
    for place in 0...Int(source.byte() % 8) {
      let index = page * DataFileTrial.pageSize + offset + place
      let byte = source.byte()
      if index < bytes.count { bytes[index] = byte }
    }
  }
  return bytes
}

/// A directory for this process with one data file.
private enum DataFileTrial {
  static let pageSize = 4096

  static let temporary: TemporaryDirectory = {
    // No code releases a static constant.
    atexit { DataFileTrial.temporary.remove() }
    return TemporaryDirectory()
  }()

  static var directory: String { temporary.path }
  static var path: String { directory + "/data.mdb" }

  /// A small file with all structures: tables of two levels, numbers and bytes as keys, long values, and free pages.
  static let sound: [UInt8] = {
    attempt {
      let environment = try open()
      let named = try environment.openDatabase(named: "named")
      let numbers = try environment.openIntegerDatabase(named: "numbers")
      for round in 0..<8 {
        try environment.withWrite { (transaction) throws(LMDBError) in
          for place in 0..<10 {
            let key = UInt8(round * 7 + place)
            let long = place == 9 && round % 3 == 0
            let value = [UInt8](repeating: key, count: long ? 9_000 : 40 + 8 * place)
            try transaction.put(value.rawBytes, forKey: [key, key, 1].rawBytes, in: named)
            try transaction.put(value.rawBytes, forKey: UInt(round * 10 + place + 1), in: numbers)
          }
          if round % 2 == 1 { _ = try transaction.removeValue(forKey: UInt(round * 10 + 10), in: numbers) }
        }
      }
      try environment.close()
    }
    return attempt { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
  }()

  static func write(_ bytes: [UInt8]) {
    attempt { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
  }

  static var isSound: Bool {
    switch attempt({ try DataFileCheck.run(path) }) {
    case .success: return true
    case .failure(let damage):
      require(!damage.description.isEmpty, "no message")
      return false
    }
  }

  /// Reads everything, then changes and removes everything. LMDB may refuse damage that is harmless.
  static func use() {
    guard let environment = try? open() else { return }
    defer { attempt { try environment.close() } }
    try? readAndChange(environment)
  }

  private static func readAndChange(_ environment: Environment) throws(LMDBError) {
    _ = try? environment.freePageCount()
    let named = try environment.openDatabase(named: "named")
    let numbers = try environment.openIntegerDatabase(named: "numbers")
    let keys = try environment.withRead { (transaction) throws(LMDBError) -> [[UInt8]] in
      var keys: [[UInt8]] = []
      var sum = 0
      var cursor = try transaction.cursor(in: named)
      while try cursor.moveToNext() {
        if let key = cursor.key { keys.append([UInt8](reading: key)) }
        if let value = cursor.value { sum += [UInt8](reading: value).count }
      }
      var others = try transaction.cursor(in: numbers)
      while try others.moveToNext() {
        if let value = others.value { sum += [UInt8](reading: value).count }
      }
      require(sum < 1 << 20, "values larger than the file")
      return keys
    }
    for start in stride(from: 0, to: keys.count, by: 8) {
      try environment.withWrite { (transaction) throws(LMDBError) in
        for (index, key) in keys[start..<min(start + 8, keys.count)].enumerated() {
          if index % 2 == 0 {
            _ = try transaction.removeValue(forKey: key.rawBytes, in: named)
          } else {
            let value = [UInt8](repeating: 1, count: (start + index) * 37 % 5000)
            try transaction.put(value.rawBytes, forKey: key.rawBytes, in: named)
          }
        }
      }
    }
    try environment.withWrite { (transaction) throws(LMDBError) in try transaction.removeAll(in: numbers) }
  }

  private static func open() throws(LMDBError) -> Environment {
    try Environment.open(directory: directory, options: EnvironmentOptions(mapSize: 1 << 22, durability: .noSync))
  }
}

@discardableResult
private func attempt<Result>(_ body: () throws -> Result) -> Result {
  do { return try body() } catch { fatalError("the trial itself fails: \(error)") }
}

extension [UInt8] {
  fileprivate init(reading bytes: RawSpan) {
    // The buffer is only read, inside the call that lends it.
    self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  fileprivate var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      // An array of bytes has no padding.
      unsafe span.bytes
    }
  }
}
