import LMDB
import TestDirectories

/// The bytes of a data file, which tests inspect and damage page by page.
struct DataFileImage {
  static let pageSize = 4096
  var bytes: [UInt8]

  /// An image with all structures: tables of several levels, values on overflow pages, and free pages.
  static let sample: DataFileImage = {
    do {
      var tables = try RandomTables(seed: 1)
      for _ in 0..<12 { try tables.change(upTo: 100, removals: 6) }
      return DataFileImage(bytes: contents(of: tables.dataFile))
    } catch {
      fatalError("the image cannot be made: \(error)")
    }
  }()

  subscript<Number: FixedWidthInteger>(offset: Int, _: Number.Type) -> Number {
    get {
      (0..<Number.bitWidth / 8).reduce(0) { $0 | Number(truncatingIfNeeded: bytes[offset + $1]) << Number($1 * 8) }
    }
    set {
      for index in 0..<Number.bitWidth / 8 {
        bytes[offset + index] = UInt8(truncatingIfNeeded: newValue >> Number(index * 8))
      }
    }
  }

  /// The offset of the newer meta page, and of its roots.
  var meta: Int { self[144, UInt64.self] < self[Self.pageSize + 144, UInt64.self] ? Self.pageSize : 0 }
  var freeRoot: Int { page(self[meta + 80, UInt64.self]) }
  var mainRoot: Int { page(self[meta + 128, UInt64.self]) }
  var lastPage: UInt64 { self[meta + 136, UInt64.self] }

  /// Returns the offset of a page.
  func page(_ number: UInt64) -> Int { Int(number) * Self.pageSize }

  func isBranch(_ page: Int) -> Bool { self[page + 10, UInt16.self] == 1 }
  func count(_ page: Int) -> Int { (Int(self[page + 12, UInt16.self]) - 16) / 2 }

  /// Returns the offset of a node of the page.
  func node(_ index: Int, of page: Int) -> Int { page + Int(self[page + 16 + 2 * index, UInt16.self]) }

  /// Returns the offset of the child of a branch's node.
  func child(_ index: Int, of page: Int) -> Int {
    let node = node(index, of: page)
    return self.page(UInt64(self[node, UInt32.self]) | UInt64(self[node + 4, UInt16.self]) << 32)
  }

  func value(of node: Int) -> Int { node + 8 + Int(self[node + 6, UInt16.self]) }

  /// Returns all leaves below a page, from left to right.
  func leaves(below page: Int) -> [Int] {
    isBranch(page) ? (0..<count(page)).flatMap { leaves(below: child($0, of: page)) } : [page]
  }

  /// Returns the nodes of the main table with these flags: 0 for a value, 1 for a value on overflow pages, 2 for a
  /// table.
  func nodes(flags: UInt16) -> [Int] {
    leaves(below: mainRoot).flatMap { leaf in (0..<count(leaf)).map { node($0, of: leaf) } }
      .filter { self[$0 + 4, UInt16.self] == flags }
  }

  /// Returns the first page of the value of a node with flags 1.
  func overflow(of node: Int) -> Int { page(self[value(of: node), UInt64.self]) }

  /// The offset of the length of a list with two or more free pages, stored in a leaf itself.
  var freePages: Int {
    for leaf in leaves(below: freeRoot) {
      for index in 0..<count(leaf) {
        let node = node(index, of: leaf)
        if self[node + 4, UInt16.self] == 0, self[value(of: node), UInt64.self] > 1 { return value(of: node) }
      }
    }
    return 0
  }

  /// Returns the damage that a check finds, or nil if the file is sound.
  func damage(in directory: TemporaryDirectory) throws -> DataFileDamage? {
    let path = directory.path + "/data.mdb"
    try write(bytes, to: path)
    guard case .failure(let damage) = try DataFileCheck.run(path) else { return nil }
    return damage
  }
}
