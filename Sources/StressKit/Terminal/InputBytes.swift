import InputFormats

/// The bytes of standard input, or of a file, pipe or device. They are read once.
struct InputBytes {
  /// The name of the input in messages.
  let name: String
  private let source: () throws -> ArraySlice<UInt8>

  /// - Parameter path: The path, or nil for standard input.
  /// - Throws: An error if the file cannot be opened.
  init(_ path: String?) throws {
    name = path ?? "standard input"
    guard let path else {
      let console = Console.current
      source = { try console.readNext()[...] }
      return
    }
    let file = try OpenFile(path: path)
    source = { try file.next() }
  }

  /// Returns the next bytes, or an empty slice at the end.
  func next() throws -> ArraySlice<UInt8> { try source() }

  /// Returns all bytes. Returns nil, and reads no further, if there are more than `limit`.
  func all(upTo limit: Int) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    while case let block = try next(), !block.isEmpty {
      bytes += block
      if bytes.count > limit { return nil }
    }
    return bytes
  }
}
