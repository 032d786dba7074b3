import Cistern
import CisternDisk
import Foundation
import Testing
import TestDirectories
import TestProcesses

@testable import InputFormats

@testable import StressKit

/// Commands that write while another process changes the store.
@Suite struct OtherProcessTests {
  private let folder: TemporaryDirectory
  private var store: String { folder.path + "/store" }
  private static let line = #"{"key":"a","text":"new","tags":["red"]}"#

  init() async throws {
    folder = TemporaryDirectory()
    let line = #"{"key":"b","text":"old","tags":["red"]}"#
    let run = await CommandRun(["import", store, "things", "--disk-limit", "1MiB"], input: Array(line.utf8))
    try #require(run.status == 0, "\(run.errors)")
  }

  @Test func `an import follows an invalidation that another process commits before it`() async throws {
    let disk = try StoreOnDisk(writing: store)
    let partition = try disk.partition("things")
    // This process learns of the invalidation in its first transaction, which is that of the import.
    let other = try SpawnedProcess(try BuiltProgram.path(), ["remove", store, "things", "--tag", "red"])
    #expect(other.waitForEnd() == 0)
    let source = try ImportSource(try folder.file("lines", Self.line), largestRecord: 10_000)
    #expect(try await RecordImport(partition: partition, source: source).run() == 1)
    try await disk.close()
    #expect(await CommandRun("get", store, "things", "a").text == "new")
    #expect(await CommandRun("get", store, "things", "b").status == 1)
  }

  @Test func `a put value is a set value, which follows the invalidations of other processes`() throws {
    let command = try PutCommand.parse(["store", "things", "a"])
    #expect(command.metadata(of: [1]).isSet)
  }
}
