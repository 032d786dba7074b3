/// Records the pages that the check met. A page must not occur twice, as part of any tree, value or list of free
/// pages.
///
/// The memory use depends on the number of pages met, not on numbers in the file.
struct PagesMet {
  private static let chunk: UInt64 = 32_768
  private let lastPage: UInt64
  private let pagesInFile: UInt64
  private var chunks: [UInt64: [UInt64]] = [:]
  /// The number of free pages behind the end of the file. LMDB never writes a page that a transaction took at the end
  /// and freed again.
  private var unwritten: UInt64 = 0

  init(lastPage: UInt64, pagesInFile: UInt64) {
    self.lastPage = lastPage
    self.pagesInFile = pagesInFile
  }

  /// Records that the page is in use. Throws if the file does not contain it, or if it was met before.
  ///
  /// - Parameters:
  ///   - page: The number of the page.
  ///   - referrer: The page that refers to it.
  /// - Throws: `DataFileDamage` if the file does not contain the page, or if it was met before.
  mutating func note(_ page: UInt64, from referrer: UInt64?) throws(DataFileDamage) {
    try noteAny(page, from: referrer)
    if page >= pagesInFile { throw DataFileDamage("the file is truncated: it ends before its page \(page)") }
  }

  /// Records that the page is free. Throws if it was met before, or if its number is out of range.
  mutating func noteFree(_ page: UInt64, from referrer: UInt64?) throws(DataFileDamage) {
    try noteAny(page, from: referrer)
    if page >= pagesInFile { unwritten += 1 }
  }

  /// Throws unless the file contains all pages up to the last, except for free ones. Call this after all pages were
  /// met.
  func requireWholeFile() throws(DataFileDamage) {
    let missing = lastPage + 1 - min(lastPage + 1, pagesInFile)
    if unwritten != missing {
      throw DataFileDamage("the file is truncated: it has \(pagesInFile) pages, but page \(lastPage) must be the last")
    }
  }

  private mutating func noteAny(_ page: UInt64, from referrer: UInt64?) throws(DataFileDamage) {
    guard page > 1, page <= lastPage else {
      throw DataFileDamage(page: referrer, "it refers to page \(page), which is not in the range 2 to \(lastPage)")
    }
    let place = Int(page % PagesMet.chunk)
    let bit: UInt64 = 1 << UInt64(place & 63)
    let isNew = { (words: inout [UInt64]) -> Bool in
      defer { words[place / 64] |= bit }
      return words[place / 64] & bit == 0
    }(&chunks[page / PagesMet.chunk, default: Array(repeating: 0, count: Int(PagesMet.chunk / 64))])
    guard isNew else { throw DataFileDamage(page: referrer, "it refers to page \(page), which has another use") }
  }
}
