// Flows over given links in SimGrid, for comparison with the flow-level solver.
// Reads a problem (see simgrid_runs.py) from argv[1], writes one finish time a flow to argv[2], and prints the CPU
// seconds of building the platform and of the simulation.
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Flow {
  int src, dst;
  double bytes;
};

static double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/crosstraffic:0");
  sg4::Engine::set_config("network/TCP-gamma:1e18");
  sg4::Engine::set_config("maxmin/precision:1e-9");
  sg4::Engine::set_config("surf/precision:1e-12");
  std::ifstream in(argv[1]);
  size_t hosts, links, flows;
  in >> hosts >> links >> flows;
  const double begin = cpu_s();
  auto* zone = sg4::create_full_zone("zone");
  std::vector<sg4::Host*> host(hosts);
  for (size_t h = 0; h < hosts; h++)
    host[h] = zone->create_host("h" + std::to_string(h), 1e9)->seal();
  std::vector<sg4::Link*> link(links);
  for (size_t l = 0; l < links; l++) {
    double rate, latency;
    in >> rate >> latency;
    link[l] = zone->create_link("l" + std::to_string(l), rate)->set_latency(latency)->seal();
  }
  std::vector<Flow> flow(flows);
  for (size_t f = 0; f < flows; f++) {
    size_t count;
    in >> flow[f].src >> flow[f].dst >> flow[f].bytes >> count;
    std::vector<sg4::LinkInRoute> path;
    for (size_t k = 0; k < count; k++) {
      size_t l;
      in >> l;
      path.emplace_back(link[l]);
    }
    zone->add_route(host[flow[f].src]->get_netpoint(), host[flow[f].dst]->get_netpoint(), nullptr, nullptr, path,
                    false);
  }
  zone->seal();
  std::vector<double> finish(flows);
  sg4::Actor::create("all", host[0], [&]() {
    std::vector<sg4::CommPtr> pending;
    for (size_t f = 0; f < flows; f++)
      pending.push_back(
          sg4::Comm::sendto_async(host[flow[f].src], host[flow[f].dst], static_cast<uint64_t>(flow[f].bytes)));
    for (size_t f = 0; f < flows; f++) {
      pending[f]->wait();
      finish[f] = pending[f]->get_finish_time();
    }
  });
  const double built = cpu_s();
  engine.run();
  std::printf("%.6f %.6f\n", built - begin, cpu_s() - built);
  std::ofstream out(argv[2]);
  out.precision(17);
  for (double t : finish)
    out << t << "\n";
  return 0;
}
