/// One line of output of a harness for scripts/compare.
package struct Figure {
  let group: String
  let workload: String
  let subject: String
  package var threads = 1
  let metric: String
  let value: Double

  package init(group: String, workload: String, subject: String, metric: String, value: Double) {
    self.group = group
    self.workload = workload
    self.subject = subject
    self.metric = metric
    self.value = value
  }

  package func print() {
    Swift.print("\(group),\(workload),\(subject),\(threads),\(metric),\(value)")
  }
}

package func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
