/// The operation that wrote a value: the process, the number of its restarts, and the number of the operation.
struct SharedAuthor: Hashable {
  let process: Int
  let generation: Int
  let number: Int

  var text: String { "\(process).\(generation).\(number)" }

  init(process: Int, generation: Int, number: Int) {
    self.process = process
    self.generation = generation
    self.number = number
  }

  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".").compactMap { Int($0) }
    guard parts.count == 3 else { return nil }
    self.init(process: parts[0], generation: parts[1], number: parts[2])
  }

  /// Returns the value that this operation writes to a key. Sizes vary, so that some records need their own pages.
  func value(of key: SharedKey) -> [UInt8] {
    let size = (number &* 2_654_435_761 &+ key.slot) % 7 == 0 ? 6_000 : 40 + number % 500
    let head = Array("\(text):\(key.text):".utf8)
    return head + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
  }

  /// Finds the operation that wrote these bytes to a key. Returns nil if no operation did.
  init?(of value: [UInt8], key: SharedKey) {
    let head = value.prefix(40).split(separator: UInt8(ascii: ":"), maxSplits: 1)
    guard let first = head.first, let author = SharedAuthor(String(decoding: first, as: UTF8.self)),
      author.value(of: key) == value
    else { return nil }
    self = author
  }
}
