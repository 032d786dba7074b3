import Foundation

/// The positions of tree pages that are in use in a data file. Damage to other pages has no effect.
struct LivePages {
  private static let size = 4096
  private(set) var branches: [Int] = []
  private(set) var leaves: [Int] = []
  /// The first pages of long values.
  private(set) var values: [Int] = []
  /// The nodes of each branch and leaf.
  private var nodes: [Int: [Int]] = [:]

  /// Finds the pages of a sound file.
  init(_ data: Data) {
    let meta = data.number(144, UInt64.self) < data.number(Self.size + 144, UInt64.self) ? Self.size : 0
    for record in [meta + 40, meta + 88] { add(data.number(record + 40, UInt64.self), data) }
  }

  private mutating func add(_ root: UInt64, _ data: Data) {
    if root == .max { return }
    let page = Int(root) * Self.size
    let isBranch = data.number(page + 10, UInt16.self) == 1
    if isBranch { branches.append(page) } else { leaves.append(page) }
    let found = (0..<(Int(data.number(page + 12, UInt16.self)) - 16) / 2)
      .map { page + Int(data.number(page + 16 + 2 * $0, UInt16.self)) }
    nodes[page] = found
    for node in found {
      let flags = data.number(node + 4, UInt16.self)
      let value = node + 8 + Int(data.number(node + 6, UInt16.self))
      if isBranch {
        add(UInt64(data.number(node, UInt32.self)) | UInt64(flags) << 32, data)
      } else if flags == 1 {
        values.append(Int(data.number(value, UInt64.self)) * Self.size)
      } else if flags == 2 {
        add(data.number(value + 40, UInt64.self), data)
      }
    }
  }

  /// Changes the parts that LMDB relies on: the header of a page, the offsets of nodes, or the header of a node.
  func changeStructure(of data: inout Data, _ random: inout Mixer) {
    for _ in 0...random.next(below: 3) {
      let kinds = [branches, leaves, values].filter { !$0.isEmpty }
      let pages = kinds[random.next(below: kinds.count)]
      let page = pages[random.next(below: pages.count)]
      let nodes = nodes[page] ?? []
      let width = 1 << random.next(below: 4)
      let place =
        nodes.isEmpty || random.next(below: 2) == 0
        ? page + random.next(below: 16 + 2 * nodes.count)
        : nodes[random.next(below: nodes.count)] + random.next(below: 16)
      data.change(place, width: width, &random)
    }
  }

  /// Changes numbers in keys and values of leaves, including those of the smallest tables. The store relies on them,
  /// and LMDB does not.
  func changeNumbers(of data: inout Data, _ random: inout Mixer) {
    for _ in 0...random.next(below: 3) {
      // The last leaves are those of the named tables. One of them is the store's own.
      let among = random.next(below: 2) == 0 ? min(6, leaves.count) : leaves.count
      let page = leaves[leaves.count - 1 - random.next(below: among)]
      let nodes = nodes[page] ?? []
      guard !nodes.isEmpty else { continue }
      let node = nodes[random.next(below: nodes.count)]
      let size = Int(data.number(node + 6, UInt16.self)) + min(40, Int(data.number(node, UInt16.self)))
      data.change(node + 8 + random.next(below: max(1, size - 8)), width: 1 << random.next(below: 4), &random)
    }
  }
}

extension Data {
  fileprivate func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
    guard offset >= 0, offset + Number.bitWidth / 8 <= count else { return 0 }
    return (0..<Number.bitWidth / 8).reduce(0) { $0 | Number(truncatingIfNeeded: self[offset + $1]) << Number($1 * 8) }
  }

  /// Replaces `width` bytes with an extreme or random number.
  fileprivate mutating func change(_ offset: Int, width: Int, _ random: inout Mixer) {
    let number: UInt64 =
      switch random.next(below: 6) {
      case 0: 0
      case 1: .max
      case 2: 1 << UInt64(width * 8 - 1)
      case 3: .max >> 1
      case 4: UInt64(random.next(below: 1200))
      default: random.next()
      }
    for index in 0..<width where offset + index < count {
      self[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(index * 8))
    }
  }
}
