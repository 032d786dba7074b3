import CisternTestSupport
import Cistern
import Foundation
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Errors and reports name the place of the problem and a remedy that helps.
@Suite struct RemedyTests {
  private func openError(
    _ directory: String, diskLimit: ByteCount = .mebibytes(1), isReadOnly: Bool = false,
    commitInterval: Duration = .milliseconds(5)
  ) throws -> CisternError {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.isReadOnly = isReadOnly
    configuration.commitInterval = commitInterval
    return try #require(
      throws: CisternError.self,
      performing: {
        _ = try Store(
          directory: directory, memoryLimit: .mebibytes(1), diskLimit: diskLimit, configuration: configuration)
      })
  }

  @Test func `a batch that is too large for memory names the memory limit`() throws {
    let cache = try Cache<String, [UInt8]>(costLimit: 100, weigher: \.count)
    let error = try #require(
      throws: CisternError.self,
      performing: { try cache.batch { $0.setValue([UInt8](repeating: 1, count: 1000), forKey: "k") } })
    #expect(error.code == .tooLarge)
    #expect(error.location == "cache in memory")
    #expect(error.recoverySuggestion == "Divide the batch, or raise the memory limit")
    #expect(!"\(error)".contains("disk"))
  }

  @Test func `an invalid memory limit of a cache names the cache`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    var configuration = CacheConfiguration<String>()
    configuration.memoryLimit = .bytes(0)
    let error = try #require(
      throws: CisternError.self,
      performing: { _ = try store.cache("texts", keyedBy: String.self, configuration: configuration) })
    #expect(error.code == .invalidArgument)
    #expect(error.location.contains("texts"))
    let bare = try #require(
      throws: CisternError.self, performing: { _ = try Cache<String, String>(settings: configuration) })
    #expect(bare.location == "creating a cache in memory")
  }

  @Test(arguments: [EMFILE, ENFILE, ENOMEM, EIO, ENOENT, ENOTDIR, ENAMETOOLONG, EACCES, EROFS, EINVAL])
  func `an error of an opening does not say that values are kept, and names permission only if it is missing`(
    status: Int32
  ) {
    let error = DiskDirectory.unusable("/store", SystemError(status: status, operation: "open /store"))
    #expect(!"\(error)".contains("in memory"))
    #expect(error.message.contains("permission") == (status == EACCES))
    #expect((error.code == .diskFailed) == [EMFILE, ENFILE, ENOMEM, EIO].contains(status))
  }

  @Test func `an unusable path has a message about the path`() throws {
    let scratch = TemporaryDirectory()
    let long = try openError("\(scratch.path)/" + String(repeating: "x", count: 300))
    #expect(long.code == .directoryUnusable)
    #expect(long.message.contains("too long"))
    try Data().write(to: URL(fileURLWithPath: "\(scratch.path)/file"))
    let below = try openError("\(scratch.path)/file/store")
    #expect(below.code == .directoryUnusable)
    #expect(below.message.contains("is a file"))
  }

  @Test func `the error of a missing directory names an attempt to create it only if there was one`() async throws {
    let scratch = TemporaryDirectory()
    let path = "\(scratch.path)/missing"
    let opening = try openError(path, isReadOnly: true)
    let compaction = await #expect(throws: CisternError.self) { try await Store.compact(directory: path) }
    for error in [opening, try #require(compaction)] {
      #expect(error.code == .directoryUnusable && error.message == "the directory does not exist")
      #expect(error.recoverySuggestion == "Check the path; only a store that is open for writing creates its directory")
    }
    let link = "\(scratch.path)/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let creation = try openError(link)
    #expect(creation.code == .directoryUnusable && creation.message.contains("cannot be created"))
    #expect(creation.recoverySuggestion == "Choose a path that exists, or correct its symbolic link")
  }

  @Test(arguments: ["cistern.mark", "lock.mdb", "data.mdb"])
  func `a folder with the name of a file is renamed and reported`(name: String) async throws {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 3)
    let folder = "\(scratch.store)/\(name)"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data([1]).write(to: URL(fileURLWithPath: folder + "/mine"))
    let readOnly = DeliveredReports()
    let reader = try openTier(scratch, delivered: readOnly, isReadOnly: true)
    #expect(readOnly.reportCodes == [.setAside])
    #expect(try reader.cache().get("k0") == nil)
    try await reader.close()
    #expect(FileManager.default.fileExists(atPath: folder + "/mine"))

    let delivered = DeliveredReports()
    let tier = try openTier(scratch, delivered: delivered)
    #expect(delivered.reportCodes == [.setAside])
    let cache = try tier.cache()
    cache.put("k", bytes("new"))
    try await tier.flush()
    #expect(cache.get("k") == bytes("new"))
    try await tier.close()
    let kept = try FileManager.default.subpathsOfDirectory(atPath: scratch.store).filter { $0.hasSuffix("/mine") }
    #expect(kept.count == 1)
  }

  @Test func `a long read is the remedy that an error and the reports name`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let subject = try await TierWithLongReader(scratch, delivered: delivered, patience: .milliseconds(5))
    let tier = subject.tier
    let failure = Switch<CisternError>()
    try await subject.fillDuringRead { _ in
      let isDone = DispatchSemaphore(value: 0)
      // This thread belongs to the shared pool, and waits.
      Task.detached(executorPreference: ThreadPerJob()) {
        do { try await tier.flush() } catch { failure.set(error as? CisternError) }
        isDone.signal()
      }
      isDone.wait()
    }
    let error = try #require(failure.peek())
    #expect(error.code == .noSpace)
    #expect(error.recoverySuggestion == "End the long read, for example a body of withBytes")
    _ = await delivered.reportCodes(atLeast: 2)
    let texts = ["\(error)"] + delivered.reports.withLock { $0.map { "\($0)" } }
    for text in texts {
      #expect(text.contains("a read of process"))
      for wrong in ["smaller transactions", "Check the disk", "Free space"] { #expect(!text.contains(wrong)) }
    }
    try? await tier.close()
  }

  @Test func `settings out of range are refused`() throws {
    let scratch = TemporaryDirectory()
    let interval = try openError(scratch.store, commitInterval: .milliseconds(-1))
    #expect(interval.code == .invalidArgument)
    #expect(interval.message.contains("commitInterval"))
    let limit = try openError(scratch.store, diskLimit: .gibibytes(65_537))
    #expect(limit.code == .invalidArgument)
    #expect(limit.message.contains("65536 GiB"))
    #expect(try DiskLimits(.gibibytes(65_536), location: "").limit == 1 << 46)
  }

  @Test func `an invalid disk limit leaves no directory`() throws {
    let scratch = TemporaryDirectory()
    let parent = "\(scratch.path)/new"
    for limit in [ByteCount.bytes(1), .gibibytes(65_537)] {
      #expect(try openError("\(parent)/store", diskLimit: limit).code == .invalidArgument)
      #expect(!FileManager.default.fileExists(atPath: parent))
    }
  }

  @Test func `the report of a failed refresh covers values that are fresh or in grace`() {
    let delivered = DeliveredReports()
    let reports = CacheReports(name: "c") { report in delivered.reports.withLock { $0.append(report) } }
    let error = CisternError(.diskFailed, "x", location: "y")
    reports.reportFailedRefresh(of: "k", error, at: MonotonicTime(nanoseconds: 1))
    let message = delivered.reports.withLock { $0[0].message }
    #expect(message.contains("while it is fresh or in grace"))
  }
}
