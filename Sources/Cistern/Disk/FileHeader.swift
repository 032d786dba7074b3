import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A look at a data file before LMDB maps it. LMDB trusts what it maps: sizes that are not so, or a root that is
/// somewhere else, end the process.
///
/// The layout is that of LMDB 0.9 on 64-bit little-endian machines: two meta pages, of which the one with the greater
/// transaction number counts.
enum FileHeader {
  private static let metaSize = 152
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1
  private static let metaFlag: UInt16 = 0x08
  private static let noPage = UInt64.max

  /// What is wrong with the file, in words; nil where nothing is, or there is nothing in it.
  static func fault(at path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Whoever may not read it is told by LMDB's opening.
      return nil
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return "it is not a file"
    }
    let size = Int(status.st_size)
    if size == 0 { return nil }
    guard let first = read(metaSize, from: descriptor, at: 0), isMeta(first.rawSpan) else {
      return "it is not a file of LMDB's"
    }
    let pageSize = Int(first.rawSpan.integer(at: 40, as: UInt32.self))
    guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
      return "its page size is \(pageSize)"
    }
    guard let second = read(metaSize, from: descriptor, at: pageSize), isMeta(second.rawSpan) else {
      return "its second page is damaged"
    }
    let newest = transaction(second.rawSpan) > transaction(first.rawSpan) ? second : first
    return fault(in: newest.rawSpan, pageSize: pageSize, size: size, descriptor)
  }

  private static func isMeta(_ page: RawSpan) -> Bool {
    page.integer(at: 10, as: UInt16.self) & metaFlag != 0 && page.integer(at: 16, as: UInt32.self) == magic
      && page.integer(at: 20, as: UInt32.self) & 0xFFFF == version
  }

  private static func transaction(_ page: RawSpan) -> UInt64 { page.integer(at: 144, as: UInt64.self) }

  private static func fault(in meta: RawSpan, pageSize: Int, size: Int, _ descriptor: Int32) -> String? {
    let lastPage = meta.integer(at: 136, as: UInt64.self)
    guard lastPage >= 1, lastPage < UInt64(Int.max / pageSize), Int(lastPage + 1) * pageSize <= size else {
      return "it is cut off: \(size) bytes are there, and \(lastPage) is its last page of \(pageSize) bytes"
    }
    // The free list's root, and the main table's.
    for offset in [80, 128] {
      let root = meta.integer(at: offset, as: UInt64.self)
      if root == noPage { continue }
      guard root >= 2, root <= lastPage, let page = read(16, from: descriptor, at: Int(root) * pageSize),
        isTreePage(page.rawSpan, number: root, pageSize: pageSize)
      else { return "its page \(root) is damaged" }
    }
    return nil
  }

  private static func isTreePage(_ page: RawSpan, number: UInt64, pageSize: Int) -> Bool {
    let lower = Int(page.integer(at: 12, as: UInt16.self))
    let upper = Int(page.integer(at: 14, as: UInt16.self))
    // A branch or a leaf, by the two lowest flags.
    return page.integer(at: 0, as: UInt64.self) == number && [1, 2].contains(page.integer(at: 10, as: UInt16.self) & 3)
      && lower >= 16 && lower <= upper && upper <= pageSize
  }

  private static func read(_ count: Int, from descriptor: Int32, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, off_t(offset)) }
    return done == count ? bytes : nil
  }
}
