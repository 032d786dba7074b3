import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// A cached value that cannot be merged.
struct UnusableCachedValueTests {
  @Test func `a cached text that is not JSON is replaced by the next value and reported`() async throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let documents = try store.cache(
      "documents", of: String.self, keyedBy: String.self, configuration: CacheConfiguration(merge: JSONMergePatch.merge)
    )
    // The first value of a key is stored without a check.
    documents["d"] = "no JSON"
    documents["d"] = #"{"a":1}"#
    #expect(documents["d"] == #"{"a":1}"#)
    #expect(store.reports.map(\.code) == [.notMerged])
    #expect(store.reports.first?.cause is JSONSyntaxError)
    documents["d"] = #"{"b":2}"#
    #expect(documents["d"] == #"{"a":1,"b":2}"#)
    // An incoming text that is not JSON is refused, for every cached value.
    documents["other"] = "no JSON"
    await #expect(throws: CisternError.self) { try await documents.commitValue("none either", forKey: "other") }
    #expect(documents["other"] == "no JSON")
    try documents.batch { $0.setValue("{}", forKey: "other") }
    #expect(documents["other"] == "{}")
  }
}
