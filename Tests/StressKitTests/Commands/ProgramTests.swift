import Foundation
import Testing
import TestDirectories
import TestProcesses

@testable import InputFormats

@testable import StressKit

/// The program as a process. A shell can close its standard descriptors.
@Suite struct ProgramTests {
  private let folder: TemporaryDirectory
  private var store: String { folder.path + "/store" }

  init() async throws {
    folder = TemporaryDirectory()
    let run = await CommandRun(["put", store, "things", "a", "--disk-limit", "1MiB"], input: Array("one".utf8))
    try #require(run.status == 0, "\(run.errors)")
  }

  /// Runs a shell command in which `$0` is the program and `$1` the store.
  private func shell(_ line: String) throws -> (status: Int32, errors: String) {
    let errors = Pipe()
    let nowhere = try #require(FileHandle(forWritingAtPath: "/dev/null"))
    let process = try SpawnedProcess(
      "/bin/sh", ["-c", line, try BuiltProgram.path(), store],
      descriptors: (nil, nowhere.fileDescriptor, errors.fileHandleForWriting.fileDescriptor))
    try errors.fileHandleForWriting.close()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    return (process.waitForEnd(), text)
  }

  @Test(arguments: [#""$0" put "$1" things a <&-"#, #""$0" import "$1" things <&-"#])
  func `a closed standard input is named in the error, and nothing is stored`(line: String) async throws {
    let run = try shell(line)
    #expect(run.status == 2)
    #expect(run.errors.contains("standard input: it is closed"), "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "a").text == "one")
  }

  @Test(arguments: [#""$0" get "$1" things a >&-"#, #""$0" list "$1" things --keys-only >&-"#, #""$0" stat "$1" >&-"#])
  func `a closed standard output is named in the error`(line: String) throws {
    let run = try shell(line)
    #expect(run.status == 2)
    #expect(run.errors.contains("standard output"), "\(run.errors)")
  }

  @Test func `a key that is not UTF-8 removes no other key`() async throws {
    let repaired = #"$(printf '\357\277\275')"#
    #expect(try shell(#"printf x | "$0" put "$1" things "\#(repaired)""#).status == 0)
    let run = try shell(#""$0" remove "$1" things "$(printf '\377')""#)
    #expect(run.status == 2)
    #expect(run.errors.contains(#"argument 4, '\xff', is not valid UTF-8"#), "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "efbfbd", "--hex").text == "x")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `an export to a full device announces no records`() throws {
    let run = try shell(#""$0" export "$1" things > /dev/full"#)
    #expect(run.status == 2)
    #expect(run.errors.contains("standard output could not be written completely"), "\(run.errors)")
    #expect(!run.errors.contains("exported"), "\(run.errors)")
  }

  @Test func `if all descriptors are closed, no output goes into the store`() async throws {
    #expect(try shell(#""$0" put "$1" things b --file /dev/null <&- >&- 2>&-"#).status == 0)
    #expect(try shell(#""$0" remove "$1" things c <&- >&- 2>&-"#).status == 1)
    #expect(try shell(#""$0" compact "$1" <&- >&- 2>&-"#).status == 2)
    #expect(await CommandRun("verify", store).status == 0)
    #expect(await CommandRun("list", store, "things", "--keys-only").text == "a\nb\n")
  }

  /// Runs the program with a standard output that is a pipe without a reader. Returns its exit status.
  private func runWithoutReader(_ arguments: [String]) throws -> Int32 {
    let output = Pipe()
    try output.fileHandleForReading.close()
    let nowhere = try #require(FileHandle(forWritingAtPath: "/dev/null"))
    let process = try SpawnedProcess(
      try BuiltProgram.path(), arguments,
      descriptors: (nil, output.fileHandleForWriting.fileDescriptor, nowhere.fileDescriptor))
    return process.waitForEnd()
  }

  @Test(arguments: [["list", "--keys-only"], ["export"], ["list"]])
  func `an output without a reader ends a command successfully`(command: [String]) throws {
    #expect(try runWithoutReader([command[0], store, "things"] + command.dropFirst()) == 0)
  }

  @Test func `a run whose output has no reader completes its report in a file`() throws {
    let report = folder.path + "/report.json"
    let status = try runWithoutReader([
      "stress", "--in-process", "--operations", "500", "--keys", "10", "--value-size", "100", "--json", report,
    ])
    #expect(status == 0)
    #expect(FileManager.default.fileExists(atPath: report))
  }

  @Test(arguments: [".", "../copy", "./"])
  func `a copy that replaces the working directory is a successful backup`(target: String) async throws {
    let run = try shell(#"mkdir "$1/../copy" && cd "$1/../copy" && "$0" backup "$1" \#(target) | grep "1 entry in""#)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.isEmpty, "\(run.errors)")
    #expect(await CommandRun("get", folder.path + "/copy", "things", "a").text == "one")
  }

  @Test func `a closed descriptor is a read failure`() throws {
    let descriptor = unsafe open("/dev/null", O_WRONLY)
    var stream = FileStream(descriptor: descriptor, name: "input")
    var failure: TraceError?
    do { _ = try stream.next() } catch let error as TraceError { failure = error }
    #expect(failure == TraceError(path: "input", line: nil, message: "it is closed"))
  }
}
