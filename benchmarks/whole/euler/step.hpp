#pragma once
#include "state.hpp"

double stable_step(const Grid &grid, double h);
void fill_edges(Grid &grid);
void advance(const Grid &from, Grid &to, double ratio);
