import Testing

@testable import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A copy of a data file's pages in memory, followed by an inaccessible page. A read behind the pages ends the process.
@safe
final class GuardedPages {
  let information: EnvironmentInformation
  // The mapped memory, which `deinit` unmaps. Its last page is inaccessible.
  private let memory: UnsafeMutableRawPointer
  /// The number of bytes of all pages.
  let size: Int

  init(of fixture: Fixture) throws {
    information = try fixture.environment.information()
    size = information.pageCount * information.pageSize
    unsafe memory = unsafe try #require(
      mmap(nil, size + information.pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0))
    unsafe mprotect(memory + size, information.pageSize, PROT_NONE)
    let file = unsafe open(fixture.directory.path + "/data.mdb", O_RDONLY)
    let readCount = unsafe pread(file, memory, size, 0)
    close(file)
    try #require(readCount == size)
  }

  deinit { unsafe munmap(memory, size + information.pageSize) }

  /// The pages as a map of LMDB. They are valid as long as this value.
  var pages: MappedPages {
    unsafe MappedPages(
      start: UnsafeRawPointer(memory), shift: UInt64(information.pageSize.trailingZeroBitCount))
  }

  /// The number of the newest transaction.
  var snapshot: UInt64 { UInt64(information.lastTransaction) }

  /// The bytes of all pages. They are valid as long as this value.
  var bytes: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: memory, count: size)
  }

  /// Returns whether the bytes are within the pages.
  func contains(_ found: UnsafeRawBufferPointer) -> Bool {
    let (start, lowest) = unsafe (UInt(bitPattern: found.baseAddress), UInt(bitPattern: memory))
    return start >= lowest && start + UInt(found.count) <= lowest + UInt(size)
  }

  /// Returns the place of a random byte. Half of the places are in the first bytes of a page, which lead to all others.
  func place(inRound round: Int, using generator: inout some RandomNumberGenerator) -> Int {
    let number = Int.random(in: 2..<information.pageCount, using: &generator)
    return number * information.pageSize
      + Int.random(in: 0..<(round & 1 == 0 ? 64 : information.pageSize), using: &generator)
  }
}
