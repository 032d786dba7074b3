import Foundation

/// A way to damage a store's files.
enum DamageKind: String, CaseIterable {
  case flippedBytes = "flipped bytes"
  case zeroedPage = "zeroed page"
  case randomPage = "random page"
  case swappedPages = "swapped pages"
  case structure = "a page's structure"
  case numbers = "numbers in keys and values"
  case cutTail = "cut tail"
  case grownTail = "grown tail"
  case otherData = "data of another time"
  case lockFile = "lock file"
  case markFile = "mark"

  func apply(in folder: String, other: String, _ random: inout Mixer) throws {
    let name =
      switch self {
      case .lockFile: "lock.mdb"
      case .markFile: "cistern.mark"
      default: "data.mdb"
      }
    let file = URL(fileURLWithPath: folder + "/" + name)
    var data = try Data(contentsOf: file)
    let pages = max(1, data.count / 4096)
    func page(_ number: Int) -> Range<Int> { min(data.count, number * 4096)..<min(data.count, number * 4096 + 4096) }
    switch self {
    case .flippedBytes:
      for _ in 0...random.next(below: 8) { data[random.next(below: data.count)] ^= UInt8(1 + random.next(below: 255)) }
    case .zeroedPage:
      let range = page(random.next(below: pages))
      data.replaceSubrange(range, with: Data(count: range.count))
    case .randomPage:
      let range = page(random.next(below: pages))
      data.replaceSubrange(range, with: Data((0..<range.count).map { _ in UInt8(random.next(below: 256)) }))
    case .swappedPages:
      let (first, second) = (page(random.next(below: pages)), page(random.next(below: pages)))
      guard first.count == second.count else { break }
      let bytes = Data(data[first])
      data.replaceSubrange(first, with: Data(data[second]))
      data.replaceSubrange(second, with: bytes)
    case .structure: LivePages(data).changeStructure(of: &data, &random)
    case .numbers: LivePages(data).changeNumbers(of: &data, &random)
    case .cutTail: data = data.prefix(random.next(below: data.count))
    case .grownTail: data.append(Data((0..<random.next(below: 20_000)).map { _ in UInt8(random.next(below: 256)) }))
    case .otherData: data = try Data(contentsOf: URL(fileURLWithPath: other + "/data.mdb"))
    case .lockFile, .markFile:
      switch random.next(below: 4) {
      case 0: data = Data()
      case 1: data = Data(count: data.count)
      case 2: data = Data((0..<data.count).map { _ in UInt8(random.next(below: 256)) })
      default:
        for _ in 0...3 where !data.isEmpty {
          data[random.next(below: data.count)] ^= UInt8(1 + random.next(below: 255))
        }
      }
    }
    try data.write(to: file)
  }
}
