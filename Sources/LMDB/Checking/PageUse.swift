/// Which pages were met: none may be met twice, in one tree or two, as a value's or as a free one. Takes up memory by
/// what was met, not by what the file says of itself.
struct PageUse {
  private static let chunk: UInt64 = 32_768
  private let lastPage: UInt64
  private let pagesInFile: UInt64
  private var chunks: [UInt64: [UInt64]] = [:]
  /// How many free pages the file does not have: what a transaction took at the file's end and gave back is never written.
  private var unwritten: UInt64 = 0

  init(lastPage: UInt64, pagesInFile: UInt64) {
    self.lastPage = lastPage
    self.pagesInFile = pagesInFile
  }

  /// Notes that the page is in use; throws where it is not in the file, or was met before. `referrer` says which page
  /// leads to it.
  mutating func meet(_ page: UInt64, from referrer: UInt64?) throws(DataFileDamage) {
    try meetAny(page, from: referrer)
    if page >= pagesInFile { throw DataFileDamage("it is cut off: its page \(page) is behind its end") }
  }

  /// Notes that the page is free; throws where it was met before, or there can be none.
  mutating func meetFree(_ page: UInt64, from referrer: UInt64?) throws(DataFileDamage) {
    try meetAny(page, from: referrer)
    if page >= pagesInFile { unwritten += 1 }
  }

  /// Throws unless all pages up to the last are in the file, or free. Once all were met.
  func requireWholeFile() throws(DataFileDamage) {
    let missing = lastPage + 1 - min(lastPage + 1, pagesInFile)
    if unwritten != missing {
      throw DataFileDamage("it is cut off: it has \(pagesInFile) pages, and page \(lastPage) is its last")
    }
  }

  private mutating func meetAny(_ page: UInt64, from referrer: UInt64?) throws(DataFileDamage) {
    guard page > 1, page <= lastPage else {
      throw DataFileDamage(page: referrer, "it leads to page \(page), and \(lastPage) is the last")
    }
    let place = Int(page % PageUse.chunk)
    let bit: UInt64 = 1 << UInt64(place & 63)
    let isNew = { (words: inout [UInt64]) -> Bool in
      defer { words[place / 64] |= bit }
      return words[place / 64] & bit == 0
    }(&chunks[page / PageUse.chunk, default: Array(repeating: 0, count: Int(PageUse.chunk / 64))])
    guard isNew else { throw DataFileDamage(page: referrer, "it leads to page \(page), which is in use elsewhere") }
  }
}
