import CisternTesting
import Foundation
import Testing
import TestDirectories
import TestProcesses

@testable import InputFormats

@testable import StressKit

/// Inputs of `cistern import`: long lines, byte order marks, and times that records cannot have.
@Suite struct ImportInputTests {
  private let folder: TemporaryDirectory
  private var store: String { folder.path + "/store" }
  private static let line = #"{"key":"a","text":"new"}"# + "\n"

  init() async throws {
    folder = TemporaryDirectory()
    let run = await CommandRun(["put", store, "things", "a", "--disk-limit", "1MiB"], input: Array("old".utf8))
    try #require(run.status == 0, "\(run.errors)")
  }

  /// Runs an import that receives these bytes first, and then `block` without an end.
  private func importEndless(_ first: String, then block: [UInt8]) async -> (run: CommandRun, blockCount: Int) {
    let blocks = Recorder<Int>()
    let run = await CommandRun(
      ["import", store, "things"],
      reading: {
        // Without a bound, the memory of the process would end the reading.
        if blocks.elements.count > 1_000 { throw CocoaError(.fileReadTooLarge) }
        blocks.record(1)
        return blocks.elements.count == 1 ? Array(first.utf8) : block
      })
    return (run, blocks.elements.count)
  }

  @Test func `an endless line is refused with its number, and nothing is imported`() async {
    let (run, blockCount) = await importEndless(Self.line, then: [UInt8](repeating: 0x20, count: 10_000))
    #expect(run.status == 2)
    #expect(run.errors.contains("standard input:2: the line is longer than"), "\(run.errors)")
    #expect(run.errors.contains("nothing was imported"), "\(run.errors)")
    #expect(blockCount < 100)
    #expect(await CommandRun("get", store, "things", "a").text == "old")
  }

  @Test func `a wrong line ends the reading`() async {
    let (run, blockCount) = await importEndless(Self.line, then: Array("y\n".utf8))
    #expect(run.status == 2)
    #expect(run.errors.contains("standard input:2: the text is not valid JSON"), "\(run.errors)")
    #expect(blockCount == 2)
    #expect(await CommandRun("get", store, "things", "a").text == "old")
  }

  @Test func `a line of the largest record may have an escape for each byte`() async throws {
    let text = String(repeating: #"\u0041"#, count: 120_000)
    let run = await CommandRun(["import", store, "things"], input: Array(#"{"key":"b","text":"\#(text)"}"#.utf8))
    #expect(run.status == 0, "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "b").output == [UInt8](repeating: 0x41, count: 120_000))
  }

  @Test func `compressed bytes can arrive one by one`() async throws {
    let path = folder.path + "/lines"
    _ = try folder.file("lines", Self.line)
    let process = try SpawnedProcess("/bin/sh", ["-c", #"gzip -n "$0""#, path])
    #expect(process.waitForEnd() == 0)
    let packed = Array(try Data(contentsOf: URL(fileURLWithPath: path + ".gz")))
    let sent = Recorder<UInt8>()
    let run = await CommandRun(
      ["import", store, "things"],
      reading: {
        guard sent.elements.count < packed.count else { return [] }
        let byte = packed[sent.elements.count]
        sent.record(byte)
        return [byte]
      })
    #expect(run.status == 0, "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "a").text == "new")
  }

  @Test func `a record with more tags than a store accepts is refused, and nothing is imported`() async {
    let large = folder.path + "/large"
    let first = await CommandRun(["put", large, "things", "a", "--disk-limit", "32MiB"], input: Array("old".utf8))
    #expect(first.status == 0, "\(first.errors)")
    func line(_ count: Int) -> [UInt8] {
      let tags = Array(repeating: #""t""#, count: count).joined(separator: ",")
      return Array((Self.line + #"{"key":"b","text":"x","tags":[\#(tags)]}"#).utf8)
    }
    let run = await CommandRun(["import", large, "things"], input: line(65_536))
    #expect(run.status == 2)
    #expect(run.errors.contains("standard input:2: the record has 65,536 tags"), "\(run.errors)")
    #expect(run.errors.contains("nothing was imported"), "\(run.errors)")
    #expect(await CommandRun("get", large, "things", "a").text == "old")
    #expect(await CommandRun(["import", large, "things"], input: line(65_535)).status == 0)
  }

  @Test func `a key that is text is the same key in any Unicode form`() async {
    let line = #"{"key":"e\#u{301}","text":"composed"}"#
    #expect(await CommandRun(["import", store, "things"], input: Array(line.utf8)).status == 0)
    #expect(await CommandRun("get", store, "things", "\u{E9}").text == "composed")
    #expect(await CommandRun("get", store, "things", "c3a9", "--hex").text == "composed")
  }

  @Test func `a hyphen is standard input`() async {
    #expect(await CommandRun(["import", store, "things", "-"], input: Array(Self.line.utf8)).status == 0)
    #expect(await CommandRun("get", store, "things", "a").text == "new")
  }

  @Test func `a byte order mark before the first line is skipped`() async {
    let run = await CommandRun(["import", store, "things"], input: [0xEF, 0xBB, 0xBF] + Array(Self.line.utf8))
    #expect(run.status == 0, "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "a").text == "new")
    let later = await CommandRun(
      ["import", store, "things"], input: Array(Self.line.utf8) + [0xEF, 0xBB, 0xBF] + Array(Self.line.utf8))
    #expect(later.status == 2)
    #expect(later.errors.contains("standard input:2:"), "\(later.errors)")
  }

  @Test(arguments: ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2262-01-01T00:00:00Z", "1677-12-31T23:59:59Z"])
  func `a time that no record can have is refused with the range`(time: String) async {
    let line = #"{"key":"b","text":"x","expires":"\#(time)"}"#
    let run = await CommandRun(["import", store, "things"], input: Array(line.utf8))
    #expect(run.status == 2)
    #expect(run.errors.contains(#""expires" is out of range"#), "\(run.errors)")
    #expect(run.errors.contains("1678 to 2261"), "\(run.errors)")
  }

  @Test(arguments: ["1678-01-01T00:00:00Z", "2261-12-31T23:59:59.999999999Z"])
  func `the first and the last time of the range are accepted`(time: String) async {
    let line = #"{"key":"b","text":"x","expires":"\#(time)"}"#
    #expect(await CommandRun(["import", store, "things"], input: Array(line.utf8)).status == 0)
  }
}
