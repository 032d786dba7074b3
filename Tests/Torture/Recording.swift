import Foundation

/// What a writer did to a store's files, in order; see `recorder.c`.
struct Recording {
  enum Event {
    case written(file: Int, offset: Int, Data)
    /// All that was written to the file before is durable.
    case synchronized(file: Int)
    case cut(file: Int, size: Int)
    /// Operations up to this one were flushed.
    case flushed(Int)
  }

  private(set) var events: [Event] = []

  init(path: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    var position = data.startIndex
    func number(_ index: Int) -> Int {
      data[position + index * 8..<position + index * 8 + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    while position + 32 <= data.endIndex {
      let (kind, file, offset, size) = (number(0), number(1), number(2), number(3))
      guard position + 32 + size <= data.endIndex else { break }
      let bytes = data[position + 32..<position + 32 + size]
      position += 32 + size
      switch kind {
      case 1: events.append(.written(file: file, offset: offset, bytes))
      case 5: events += [.written(file: file, offset: offset, bytes), .synchronized(file: file)]
      case 2: events.append(.synchronized(file: file))
      case 3: events.append(.cut(file: file, size: offset))
      case 4:
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
        if let number = Int(text) { events.append(.flushed(number)) }
      default: break
      }
    }
  }
}

/// A file as a power cut may leave it: what was made durable, and of the rest any part, in any order.
struct TornFile {
  private static let sector = 512
  private var durable = Data()
  private var pending: [(offset: Int, bytes: Data)] = []

  mutating func write(_ offset: Int, _ bytes: Data) { pending.append((offset, bytes)) }

  mutating func synchronize() {
    for (offset, bytes) in pending { Self.put(bytes, at: offset, into: &durable) }
    pending = []
  }

  mutating func cut(to size: Int) {
    // File systems keep sizes and contents in order or not; shrinking is only done to files that are rewritten.
    synchronize()
    durable = Data(durable.prefix(size))
  }

  /// - Parameters:
  ///   - keep: of a thousand sectors, or pages, so many that were written reach the device.
  ///   - tearsPages: whether sectors go by themselves, or only pages do.
  func image(keep: Int, tearsPages: Bool, _ random: inout Mixer) -> Data {
    var image = durable
    let grain = tearsPages ? Self.sector : 4096
    for (offset, bytes) in pending {
      var position = 0
      while position < bytes.count {
        let end = min(bytes.count, (offset + position) / grain * grain + grain - offset)
        if random.next(below: 1000) < keep {
          Self.put(bytes.dropFirst(position).prefix(end - position), at: offset + position, into: &image)
        }
        position = end
      }
    }
    return image
  }

  private static func put(_ bytes: Data, at offset: Int, into file: inout Data) {
    if file.count < offset + bytes.count { file.append(Data(count: offset + bytes.count - file.count)) }
    file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }
}
