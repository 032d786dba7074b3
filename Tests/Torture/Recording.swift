import Foundation

/// The operations of a writer on a store's files, in order. See `recorder.c`.
struct Recording {
  enum Event {
    case written(file: Int, offset: Int, Data)
    /// All earlier writes to the file are durable.
    case synchronized(file: Int)
    case cut(file: Int, size: Int)
    /// All operations up to this one were flushed.
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

/// A file that a power cut may leave: all durable writes, and any subset of the other writes.
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
    // Treats all earlier writes as durable. File systems may or may not order sizes and contents, and only rewritten
    // files are shortened.
    synchronize()
    durable = Data(durable.prefix(size))
  }

  /// - Parameters:
  ///   - keep: The number of sectors or pages, of a thousand written ones, that reach the device.
  ///   - tearsPages: Whether each sector may be lost separately, or only whole pages.
  ///   - random: The random choices.
  /// - Returns: The image of the file.
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
